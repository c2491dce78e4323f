/** A file of the example in CONTRIBUTING.md. */
export interface ExampleBlock {
  file: string;
  text: string;
  /** Whether the text has lines to be inserted into an existing file. */
  isInsertion: boolean;
}

/** The blocks of code that name a file behind their language; their indentation in the list is removed. */
export function exampleBlocks(markdown: string): ExampleBlock[] {
  return [...markdown.matchAll(/^( *)```(\w+) (\S+)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language, file = '', text = '']) => ({
      file,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      isInsertion: language === 'diff',
    }),
  );
}

/** Inserts each line that begins with `+` behind the line before it. @throws Error when that is not there. */
export function insertLines(text: string, diff: string): string {
  const lines = text.split('\n');
  let at = -1;
  for (const line of diff.trimEnd().split('\n')) {
    const content = line.slice(2);
    if (line.startsWith('+')) {
      at += 1;
      lines.splice(at, 0, `${lines[at - 1]!.match(/^ */)![0]}${content.trimStart()}`);
    } else {
      at = lines.findIndex((known, index) => index > at && known.trim() === content.trim());
      if (at < 0) throw new Error(`there is no line ${content}`);
    }
  }
  return lines.join('\n');
}
