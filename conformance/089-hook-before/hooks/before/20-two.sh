echo "two $ABIDE_ABILITY" >>ready
