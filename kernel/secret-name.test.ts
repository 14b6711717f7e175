import { expect, test } from 'vitest';
import { isSecretName } from './secret-name.ts';

test.each([
  ...['MY_API_KEY', 'github_token', 'DB_PASSWORD', 'AWS_SECRET', 'SOME_CREDENTIALS', 'LAB_AUTH', 'MY_PASSPHRASE', 'PGPASS', 'MYSQL_PWD', 'HTTP_AUTHORIZATION'],
  ...['apiKey', 'accessToken', 'apikey', 'api_key', 'x-api-key', 'credentials', 'pass', 'passwd', 'dbPwd', 'Authorization', 'cookie', 'clientSecret'],
])('%s is the name of a secret', (name) => expect(isSecretName(name)).toBe(true));

test.each(['PATH', 'PWD', 'OLDPWD', 'SSH_AUTH_SOCK', 'XAUTHORITY', 'GIT_ASKPASS', 'GIT_AUTHOR_NAME', 'author', 'authorName', 'authors', 'keyboard', 'keywords', 'theme'])('%s is not', (name) =>
  expect(isSecretName(name)).toBe(false),
);
