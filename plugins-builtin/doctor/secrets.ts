/** Keeps secrets out of what other plugins report: a server's answer may quote the key it refused. */
import { type ConfigControl, isSecretName, maskSecrets, settingsBelow } from 'newt-agent';

const mask = '********';
/** Shorter values, such as `1`, stand in any text by chance. */
const shortestSecret = 6;

/** What takes the values of secret settings and variables out of a text. */
export function secretMask({ values }: Pick<ConfigControl['config'], 'values'>, env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const settings = Object.entries(values).flatMap(([key, value]) => settingsBelow(key, value)).flatMap(({ key, value }) => (typeof value === 'string' && maskSecrets(key, value) === mask ? [value] : []));
  const variables = Object.entries(env).flatMap(([name, value]) => (value !== undefined && isSecretName(name) ? [value] : []));
  // The longest first: one may be the beginning of another.
  const secrets = [...new Set([...settings, ...variables])].filter((secret) => secret.length >= shortestSecret).sort((a, b) => b.length - a.length);
  return (text) => String(maskSecrets('text', secrets.reduce((left, secret) => left.replaceAll(secret, mask), text)));
}
