import type { FieldRule } from './workspace.types.ts';

const text = (max: number): FieldRule => ({ max });
/** A text that is never blank. */
const name = (max: number): FieldRule => ({ max, filled: true });
const number = (least: number, most: number): FieldRule => ({ least, most });
const order = number(-1_000_000, 1_000_000);
const key: FieldRule = { pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/ };

/** What single writes ask of the columns of kinds, beside what the database asks of them; a test holds them together. */
export const otherFieldRules: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  resource_types: { key, label: name(300), description: text(20_000), sort_order: order, icon: text(100) },
  compliance_regulations: { key, label: name(300), description: text(20_000), sort_order: order },
  principles: {
    title: name(300),
    description: text(20_000),
    rationale: text(20_000),
    implications: text(20_000),
    sort_order: order,
  },
  surveys: { name: name(200), target_type_key: name(100), description: text(10_000), message: text(10_000) },
  adrs: { title: name(500) },
  soaws: { name: name(500) },
};
