import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** A piece of shell that the documentation shows. */
export interface Block {
  /** The line of its first command. */
  line: number;
  text: string;
}

/** Everything in a page between ```sh and ```; other fences are for reading. */
export function shellBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  let fence = false;
  for (const [at, line] of markdown.split('\n').entries()) {
    if (open) {
      if (line === '```') {
        blocks.push(open);
        open = undefined;
      } else open.text += `${line}\n`;
    } else if (fence) {
      fence = line !== '```';
    } else if (line === '```sh') {
      open = { line: at + 2, text: '' };
    } else fence = line.startsWith('```');
  }
  return blocks;
}

/** The pages whose examples are run, with the blocks of each. */
export function pages(): { name: string; blocks: Block[] }[] {
  return ['README.md', ...readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md'))]
    .map((name) => {
      const file = name === 'README.md' ? name : `docs/${name}`;
      return { name: file, blocks: shellBlocks(readFileSync(path.join(root, file), 'utf8')) };
    })
    .filter(({ blocks }) => blocks.length > 0);
}
