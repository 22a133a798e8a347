"""What a captured program must not notice: where torch.compile's semantics are not eager's, eager answers.

A program that never calls torch.compile did not ask for gradients of zeros, for one backward only or for
other exceptions. We hold the graph that was compiled, so what the compiled code cannot do as eager does is
done by the graph itself, and the recording says what torch.compile would have changed there.
"""
