"""Predictions of weighted trees and of sums of trees."""
