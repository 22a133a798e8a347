"""transformers: the Trainer on a small random BERT."""

import tempfile

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

torch.manual_seed(0)
model = BertForSequenceClassification(
    BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
)
data = [{"input_ids": torch.randint(0, 100, (n,)), "labels": n % 2} for n in (16,) * 24]
arguments = TrainingArguments(
    tempfile.mkdtemp(),
    per_device_train_batch_size=8,
    num_train_epochs=2,
    report_to=[],
    save_strategy="no",
    disable_tqdm=True,
    use_cpu=True,
    logging_strategy="no",
)
trainer = Trainer(model, arguments, train_dataset=data)
trainer.remove_callback(PrinterCallback)  # it prints times
result = trainer.train()
print(result.global_step, f"{result.training_loss:.2f}")
