import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Prompt } from './models.types.ts';

const declared: Record<string, Omit<Prompt, 'name'>> = parse(
  readFileSync(new URL('./prompts.yaml', import.meta.url), 'utf8'),
);

/** The instructions of `prompts.yaml` with this name. */
export const promptNamed = (name: string): Prompt => ({ name, ...declared[name]! });
