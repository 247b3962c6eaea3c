"""What runs at the same time: threads and what they meet in, queues and what is under way in them."""
