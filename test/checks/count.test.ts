import { expect, test } from 'vitest';
import { codeLines } from './count.ts';

test('lines of comments and empty lines are no code', () => {
  const text = `// one
/* two
   three */
const a = 1; // four

const b = \`
// part of a text
\`; /* five */ const c = 2;
`;
  expect(codeLines('a.ts', text)).toBe(4);
});
