/** With HOME empty or relative, a repository's `.config/agent/plugins` ran as the person's own; below /proc, making folders never ended. */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { homePaths, makeFolder } from '../../kernel/paths.ts';
import { createPlace, type Place } from '../support/agent-process.ts';

let place: Place | undefined;
afterEach(() => place?.remove());

const evil = "import { writeFileSync } from 'node:fs';\nwriteFileSync(new URL('ran', import.meta.url), '');\nexport default {};";

test.each(['', 'home', '.'])('HOME=%j is as good as none', (HOME) => {
  const { homedir } = userInfo();
  expect(homePaths({ HOME }, 'linux').config).toBe(join(homedir, '.config/agent'));
  expect(homePaths({ HOME, XDG_CONFIG_HOME: 'rel' }, 'linux').config).toBe(join(homedir, '.config/agent'));
});

test('a repository is nobody\'s home', async () => {
  place = createPlace();
  place.write({ '.config/agent/plugins/evil.ts': evil, 'home/.config/agent/plugins/evil.ts': evil });
  for (const HOME of ['', 'home']) {
    // What is the account's own is out of the way, and the account's home is not looked at for anything else.
    const env = { HOME, AGENT_HOME: '', XDG_CONFIG_HOME: join(place.root, 'config'), XDG_STATE_HOME: join(place.root, 'state'), XDG_DATA_HOME: join(place.root, 'data'), XDG_CACHE_HOME: join(place.root, 'cache') };
    expect(await place.agent(['plugin', 'list'], { env })).toMatchObject({ code: 0, stdout: expect.not.stringContaining('evil') });
  }
  expect(['', 'home/'].map((base) => existsSync(join(place?.workspace ?? '', `${base}.config/agent/plugins/ran`)))).toEqual([false, false]);
});

test('an AGENT_HOME that depends on the current folder is refused in a line', async () => {
  place = createPlace();
  place.write({ 'home/config/plugins/evil.ts': evil });
  const ended = await place.agent(['plugin', 'list'], { env: { AGENT_HOME: 'home' } });
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^agent: AGENT_HOME is "home".*\n {2}make it an absolute path\n$/) });
  expect(existsSync(join(place.workspace, 'home', 'config', 'plugins', 'ran'))).toBe(false);
});

test.runIf(existsSync('/proc/self'))('a folder that cannot be made is told, not tried for ever', async () => {
  expect(() => makeFolder('/proc/agent/deep/er')).toThrow(/ENOENT/);
  place = createPlace();
  const env = { AGENT_HOME: '/proc' };
  expect((await place.agent(['plugin', 'list'], { env })).code).toBe(0);
  const ended = await place.agent(['config', 'set', 'temperature', '1'], { env });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(/\/proc\/.*cannot be written/) });
});
