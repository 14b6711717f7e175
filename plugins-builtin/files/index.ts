/** Reading and changing the files of a workspace. */
import { definePlugin } from 'newt-agent';
import { listDirectory } from './list-directory.ts';
import { manifest } from './manifest.ts';
import { readFile } from './read-file.ts';
import { replaceInFile } from './replace-in-file.ts';
import { writeFile } from './write-file.ts';

export default definePlugin(manifest, () => ({
  tools: {
    read_file: readFile,
    write_file: writeFile,
    replace_in_file: replaceInFile,
    list_directory: listDirectory,
  },
}));
