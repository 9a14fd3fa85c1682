"""The summary of a posterior: how far its runs agree, what that means, and what to do, in numbers and words."""
