"""Rankings from pairwise votes: Bradley-Terry scores, their uncertainty, and who could move them.

Shared by every paper that turns battles into a leaderboard. ``battles`` aggregates the votes once;
all else starts from there.
"""
