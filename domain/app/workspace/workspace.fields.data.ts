import type { FieldRule } from './workspace.types.ts';

const text = (max: number): FieldRule => ({ max });
/** A text that is never blank. */
const number = (least: number, most: number): FieldRule => ({ least, most });
const key: FieldRule = { pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/ };

/** What single writes ask of the columns of kinds, beside what the database asks of them; a test holds them together. */
export const otherFieldRules: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
};
