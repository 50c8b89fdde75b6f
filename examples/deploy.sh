#!/bin/sh
# A stand-in for a deployment: writes down what was asked for. The arguments may come in either order.
set -eu
version='' environment=''
for argument; do
  case $argument in
    v[0-9]*) version=$argument ;;
    *) environment=$argument ;;
  esac
done
if [ -z "$version" ] || [ -z "$environment" ]; then
  echo "usage: deploy.sh VERSION ENVIRONMENT" >&2
  exit 2
fi
mkdir -p build
printf '%s\n' "$version" >"build/deployed-$environment"
echo "deployed $version to $environment"
