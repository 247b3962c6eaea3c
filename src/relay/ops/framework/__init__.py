"""What an operator's record is made of, and what records share: type relations, meanings, tensor expressions, facts."""
