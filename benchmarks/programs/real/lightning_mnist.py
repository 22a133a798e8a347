"""lightning: the autoencoder of its documentation, one epoch of random pictures."""

import lightning as L
import torch
from torch import nn

L.seed_everything(0, verbose=False)


class LitAutoEncoder(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(28 * 28, 64), nn.ReLU(), nn.Linear(64, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 28 * 28))

    def training_step(self, batch, batch_idx):
        x, _ = batch
        x = x.view(x.size(0), -1)
        loss = nn.functional.mse_loss(self.decoder(self.encoder(x)), x)
        self.losses = [*getattr(self, "losses", []), round(loss.item(), 3)]
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


data = torch.utils.data.TensorDataset(torch.rand(64, 1, 28, 28), torch.zeros(64))
model = LitAutoEncoder()
trainer = L.Trainer(
    max_epochs=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    accelerator="cpu",
)
trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=16))
print(model.losses)
