echo one >>ready
