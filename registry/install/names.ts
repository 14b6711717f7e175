/** Names that others like to be mistaken for. */
import { editDistance } from '../../kernel/near.ts';

/** Packages many projects declare. A name that is almost one of these is asked about; the list is no more than that. */
const wellKnown: readonly string[] = [
  'newt-agent', 'anthropic', 'openai', 'axios', 'babel', 'bluebird', 'body-parser', 'chalk', 'cheerio', 'chokidar', 'classnames', 'colors', 'commander', 'cookie', 'cors', 'cross-env', 'cross-spawn', 'dayjs',
  'debug', 'discord.js', 'dotenv', 'electron', 'esbuild', 'eslint', 'ethers', 'execa', 'express', 'fastify', 'fs-extra', 'glob', 'graphql', 'handlebars', 'helmet', 'inquirer', 'ioredis', 'jquery', 'jsdom',
  'jsonwebtoken', 'langchain', 'lodash', 'marked', 'micromatch', 'minimatch', 'minimist', 'moment', 'mongodb', 'mongoose', 'mysql', 'nanoid', 'next', 'node-fetch', 'nodemailer', 'nodemon', 'octokit', 'passport', 'picomatch', 'playwright',
  'postcss', 'prettier', 'prisma', 'puppeteer', 'react', 'react-dom', 'redis', 'request', 'rimraf', 'rollup', 'rxjs', 'semver', 'sequelize', 'sharp', 'socket.io', 'sqlite3', 'supports-color', 'svelte', 'tailwindcss', 'tslib',
  'typescript', 'underscore', 'undici', 'uuid', 'vite', 'vitest', 'webpack', 'winston', 'yaml', 'yargs', 'zod',
];

/** Below this many letters almost every word is almost another. */
const shortest = 5;
/** From here on two letters may differ by mistake; a shorter word with two others is another word. */
const long = 8;

/**
 * The name that `name` could be taken for; undefined where it is one of them itself, or far from all.
 * @param typed whether a person typed it: then two letters count in a short name too
 */
export function mistakenFor(name: string, firstParty: readonly string[], typed: boolean): string | undefined {
  const known = [...firstParty, ...wellKnown];
  if (known.includes(name) || name.length < shortest) return undefined;
  const most = typed || name.length >= long ? 2 : 1;
  return known.find((one) => one.length >= shortest && Math.abs(one.length - name.length) <= most && editDistance(name.toLowerCase(), one) <= most);
}
