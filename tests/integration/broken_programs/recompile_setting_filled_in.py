"""A setting of the model that the first call fills in.

kind: recompile
advice: give it its value before

Made after a pattern of transformers (`config.problem_type` of a model with a classification head).
"""

import torch


class Config:
    def __init__(self):
        self.problem_type = None


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.config = Config()

    def forward(self, scores):
        if self.config.problem_type is None:  # cause
            self.config.problem_type = "regression"
        return scores.mean(-1) if self.config.problem_type == "regression" else scores.argmax(-1)


classify = torch.compile(Classifier(), backend="eager")
for _ in range(3):
    print(classify(torch.ones(3, 4)).tolist())
