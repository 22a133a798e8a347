"""LinAlgError of cholesky, inverse and solve, caught by the caller."""

import torch


def log_determinant(matrix):
    return torch.linalg.cholesky(matrix).diagonal().log().sum() * 2


def inverse(matrix):
    return torch.linalg.inv(matrix).sum()


def solution(matrix):
    return torch.linalg.solve(matrix, torch.ones(matrix.shape[0])).sum()


for function in (log_determinant, inverse, solution):
    for matrix in (torch.eye(3) * 2, torch.zeros(3, 3)):
        try:
            print(function.__name__, function(matrix).item())
        except torch.linalg.LinAlgError as error:
            print(function.__name__, type(error).__name__, str(error).splitlines()[0])
