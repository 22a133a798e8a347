"""accelerate: the loop of its documentation."""

import torch
from accelerate import Accelerator

torch.manual_seed(0)
accelerator = Accelerator(cpu=True)
model = torch.nn.Transformer(
    d_model=32, nhead=4, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=64, batch_first=True
)
optimizer = torch.optim.Adam(model.parameters())
data = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(torch.randn(16, 6, 32), torch.randn(16, 6, 32)), batch_size=4
)
model, optimizer, data = accelerator.prepare(model, optimizer, data)
for source, targets in data:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(source, targets), targets)
    accelerator.backward(loss)
    optimizer.step()
    print(f"{loss.item():.3f}")
