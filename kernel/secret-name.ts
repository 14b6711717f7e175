/** Which names belong to secrets: of environment variables and of keys, in snake case, kebab case and camel case. */

/** Told broadly, within words too (`apikey`, `PGPASS`): a value hidden for nothing is mended sooner than one that was shown. */
const secretName = /KEY(?!BOARD|MAP|WORD)|TOKEN|SECRET|PASS|AUTH(?!OR(?:S|_|$))|CREDENTIAL|COOKIE|_PWD$/i;
/** Sockets, files and programs that let a command use a key without showing it. */
const harmless = new Set(['SSH_AUTH_SOCK', 'XAUTHORITY', 'GNOME_KEYRING_CONTROL', 'PGPASSFILE', 'GIT_ASKPASS', 'SSH_ASKPASS', 'SUDO_ASKPASS']);

/** Whether what goes by this name must not be shown, or handed to a program that was not told to have it. */
export function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('-', '_');
  return secretName.test(words) && !harmless.has(name);
}
