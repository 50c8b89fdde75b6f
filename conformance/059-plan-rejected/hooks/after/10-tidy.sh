touch tidied
