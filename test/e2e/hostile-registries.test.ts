/** Registries, projects and lock files that mean harm, against the built command. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type InstallPlace, isRefused, openInstallPlace } from '../support/install-place.ts';
import { pluginPublication } from '../support/npm-registry.ts';

// Each of these starts many processes, one after the other.
vi.setConfig({ testTimeout: 180_000 });

let at: InstallPlace;
beforeEach(async () => {
  at = await openInstallPlace();
});
afterEach(() => at[Symbol.asyncDispose]());

const name = 'agent-plugin-hostile';
const refused = (reason: RegExp, code = 2): Promise<void> => isRefused(at, reason, ['add', name], code);

describe('a registry', () => {
  it('that never answers is not waited for', async () => {
    at.configure({ timeout: 3 });
    at.registry.intercept(() => true);
    await refused(/gave no whole answer within 3 s/, 1);
  });

  it('that trickles for ever is not waited for, neither at the packument nor at the tarball', async () => {
    at.configure({ timeout: 3 });
    at.registry.publish(pluginPublication(name, 'hostile'));
    const trickle = (_: string, response: { write(text: string): unknown; on(event: string, listener: () => void): unknown }): true => {
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
      return true;
    };
    at.registry.intercept(trickle as never);
    await refused(/gave no whole answer within 3 s/, 1);
    at.registry.intercept((path, response) => path.endsWith('.tgz') && trickle(path, response as never));
    await refused(/gave no whole answer within 3 s/, 1);
  });

  it('that never stops is cut off', async () => {
    const piece = Buffer.alloc(1_000_000, ' ');
    at.registry.intercept((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
      return true;
    });
    await refused(/is larger than 64 MB|gave no whole answer/, 1);
  });

  it('that sends us elsewhere is not followed', async () => {
    await using elsewhere = await openInstallPlace();
    elsewhere.registry.publish(pluginPublication(name, 'hostile'));
    at.registry.intercept((path, response) => {
      response.writeHead(302, { location: `${elsewhere.registry.url}${path.slice(1)}` }).end();
      return true;
    });
    await refused(/sends us to 127\.0\.0\.1:\d+, which is not the registry/, 1);
    at.registry.publish(pluginPublication(name, 'hostile', { told: { dist: undefined } }));
    expect(elsewhere.registry.requests).toEqual([]);
  });

  it('whose packuments name tarballs on other hosts is asked for them itself', async () => {
    await using elsewhere = await openInstallPlace();
    const plugin = pluginPublication(name, 'hostile');
    at.registry.publish(plugin);
    at.registry.intercept(async (path, response) => {
      if (path !== `/${name}`) return false;
      at.registry.intercept(undefined);
      const told = (await (await fetch(`${at.registry.url}${name}`)).json()) as { versions: Record<string, { dist: { tarball: string } }> };
      for (const version of Object.values(told.versions)) version.dist.tarball = `${elsewhere.registry.url}evil.tgz`;
      response.end(JSON.stringify(told));
      return true;
    });
    expect((await at.plugin(['add', name, '--yes'])).code).toBe(0);
    expect(elsewhere.registry.requests).toEqual([]);
  });

  it.each([
    ['with keys that every object has', `{"name":"${name}","__proto__":{"polluted":1},"dist-tags":{"__proto__":"1.0.0","latest":"1.0.0"},"time":{"__proto__":{"x":1}},"versions":{"__proto__":{"name":"${name}","version":"9.9.9"},"constructor":{"prototype":{"polluted":1}}}}`, /no version of/],
    ['that is no JSON', '<html>', /is no JSON/],
    ['of another package', '{"name":"another","dist-tags":{},"versions":{}}', /makes no sense/],
    ['that is a list', '[]', /makes no sense/],
    ['whose versions are no versions', `{"name":"${name}","versions":{"../../x":{"name":"${name}","version":"../../x","dist":{"tarball":"x"}}}}`, /no version|No versions|no valid|fits/i],
  ])('with a packument %s', async (_, text, reason) => {
    at.registry.intercept((__, response) => {
      response.end(text);
      return true;
    });
    await refused(reason);
  });

  it('never gets a token, a cookie or a name of a file', async () => {
    writeFileSync(join(at.place.root, '.npmrc'), `//127.0.0.1/:_authToken=secret-token\n_auth=c2VjcmV0\n`);
    const headers: string[] = [];
    at.registry.publish(pluginPublication(name, 'hostile'));
    at.registry.intercept((_, __, request) => {
      headers.push(JSON.stringify(request.headers));
      return false;
    });
    expect((await at.plugin(['add', name, '--yes'], { env: { NPM_TOKEN: 'secret-token' } })).code).toBe(0);
    expect(headers.length).toBeGreaterThan(1);
    expect(headers.join()).not.toMatch(/secret|authorization|cookie|npm_|newt-tests/i);
  });
});

describe('a project', () => {
  it('cannot say where plugins come from, or what needs no question, even where it is trusted', async () => {
    await using elsewhere = await openInstallPlace();
    elsewhere.registry.publish(pluginPublication(name, 'hostile'));
    at.registry.publish(pluginPublication(name, 'hostile', { daysAgo: 3 }));
    at.place.write({ '.agent/config.yaml': `install: { registry: "${elsewhere.registry.url}", min_age_days: 1 }\n`, '.npmrc': `registry=${elsewhere.registry.url}\n` });
    await at.agent(['trust', 'grant']);
    expect(await at.plugin(['add', name, '--yes'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--accept') });
    expect(elsewhere.registry.requests).toEqual([]);
  });
});

describe('a lock file written by somebody else', () => {
  it('cannot lead out of the data folder, or hide what a plugin asks for', async () => {
    at.registry.publish(pluginPublication(name, 'hostile', { agent: { capabilities: ['exec'] } }));
    await at.plugin(['add', name, '--yes']);
    const text = at.lockText();
    const lock = join(at.place.home, 'data', 'agent-plugins.lock');
    for (const [from, to] of [['"node_modules/agent-plugin-hostile"', '"node_modules/../../../x"'], ['"1.0.0"', '"../../1.0.0"'], ['"name": "agent-plugin-hostile"', '"name": "../x"']] as const) {
      writeFileSync(lock, text.replaceAll(from, to));
      expect((await at.plugin(['sync', '--yes'])).code).toBe(2);
    }
    writeFileSync(lock, text.replace('"exec"', '').replace(/"contentDigest": "[0-9a-f]+"/, `"contentDigest": "${'0'.repeat(64)}"`));
    expect(await at.plugin(['sync', '--yes'])).toMatchObject({ code: 2, stderr: expect.stringContaining('the lock file does not say so') });
    writeFileSync(lock, text.replace(/"contentDigest": "[0-9a-f]+"/, `"contentDigest": "${'0'.repeat(64)}"`));
    expect(await at.plugin(['sync', '--yes'])).toMatchObject({ code: 2, stderr: expect.stringContaining('another digest') });
  });

  it('does not make the tree be written through a link that lies where it goes', async () => {
    const outside = join(at.place.root, 'outside');
    mkdirSync(outside);
    mkdirSync(join(at.place.home, 'data'), { recursive: true });
    at.registry.publish(pluginPublication(name, 'hostile'));
    mkdirSync(join(at.place.home, 'data', 'plugins'), { recursive: true });
    symlinkSync(outside, join(at.place.home, 'data', 'plugins', 'hostile'));
    await at.plugin(['add', name, '--yes']);
    // A link the person made is the person's: what matters is that the tree is whole where it is looked for.
    expect((await at.agent(['hostile'])).stdout).toContain('hello');
  });
});
