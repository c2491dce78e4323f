import {
  columnLabel,
  type Labels,
  labelOrKey,
  shownColumns,
} from '../../../domain/exchange/imports/imports.labels.ts';
import { MAX_ALIAS, MAX_EXTERNAL_ID, MAX_NAME } from '../../../domain/inventory/cards/rules/values.ts';
import type { CompiledField } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Column, FormColumn } from '../../kernel/formats/formats.types.ts';
import texts from './workbook.texts.json' with { type: 'json' };

/** How the columns of a workbook are named and explained. */
export interface FormTexts {
  headers: 'keys' | 'labels';
  language: string;
  /** Of the workspace, in which amounts are. */
  currency: string;
  labels: Labels;
}

/** A field as the types of a sheet have it. */
export interface FormField extends Pick<CompiledField, 'label' | 'type' | 'required' | 'readonly'> {
  /** Of all the types, by option. */
  optionLabels: ReadonlyMap<string, string>;
  /** Finds an option by its label. */
  findOption(label: string): string | undefined;
}

/** What the columns of a sheet stand for. */
export interface FormOptions extends FormTexts {
  kind: 'cards' | 'relations';
  /** Labels of card or relation types, by type. */
  types: ReadonlyMap<string, string>;
  /** Labels of subtypes, by subtype, and what finds them. */
  subtypes: ReadonlyMap<string, string>;
  findSubtype(label: string): string | undefined;
  field(key: string): FormField | undefined;
}

type TextKey = keyof (typeof texts)['en'];

/** Options that a note names. */
const MOST_NAMED = 25;

/** A text in German, or in English for all other languages. */
function say(language: string, key: TextKey, values: Record<string, string | number> = {}): string {
  const text = (language.startsWith('de') ? texts.de : texts.en)[key];
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

const statuses = ['ACTIVE', 'ARCHIVED'];
const approvals = ['DRAFT', 'APPROVED', 'REJECTED', 'BROKEN'];
const longest: Record<string, number> = { name: MAX_NAME, alias: MAX_ALIAS, external_id: MAX_EXTERNAL_ID };

/** The parts of a form that follow from what a column is. */
type Part = Omit<FormColumn, 'title' | 'note'> & { notes: string[] };

/** The form of the columns of a sheet, in their order. */
export function formOf(columns: readonly Column[], options: FormOptions): FormColumn[] {
  return columns.map(({ header }) => {
    const { notes, ...part } = partOf(header, options);
    const title = titleOf(header, options);
    const named = title === header ? [] : [say(options.language, 'column', { name: header })];
    return { title, note: [...named, ...notes].join('\n'), ...part };
  });
}

/** The header of a column, which an import takes for the same column. */
function titleOf(header: string, { headers, language, labels, field }: FormOptions): string {
  if (headers === 'keys') return header;
  const key = header.replace(/^attributes\./, '');
  const label = key === header ? columnLabel(header, language) : field(key)?.label;
  if (label === undefined) return header;
  const found = [label, `${label} (${key})`].find((text) => labels.column(text) === header);
  return found ?? header;
}

function partOf(header: string, options: FormOptions): Part {
  const { language, kind, types, subtypes } = options;
  const text = (key: TextKey, values?: Record<string, string | number>) => say(language, key, values);
  if (header.startsWith('attributes.')) return attributePart(header.slice('attributes.'.length), options);
  if (header.startsWith('lifecycle.')) return { notes: [text('date')] };
  if (shownColumns[kind].has(header)) return { notes: [text('shown')], locked: 'all' };
  const choose = (values: ReadonlyMap<string, string>, find: (label: string) => string | undefined) =>
    chosenOf(values, find, options);
  switch (header) {
    case 'id':
      return { notes: [text('id')], locked: 'all' };
    case 'type':
      return {
        notes: [text(kind === 'cards' ? 'type' : 'relation_type')],
        locked: 'values',
        ...choose(types, options.labels.type),
      };
    case 'subtype': {
      const part = choose(subtypes, options.findSubtype);
      return { ...part, notes: [text('single_select'), allowed(part.choices, language)] };
    }
    case 'status':
      return { notes: [text('single_select'), allowed(statuses, language)], choices: statuses };
    case 'approval_status':
      return {
        notes: [text('approval_status'), allowed(approvals, language)],
        locked: 'values',
        choices: approvals,
      };
    case 'parent_path':
      return { notes: [text('path')] };
    case 'parent_id':
    case 'tags':
    case 'stakeholders':
      return { notes: [text(header)] };
    case 'source_id':
    case 'target_id':
      return { notes: [text('end')], locked: 'values' };
    case 'source_external_id':
    case 'target_external_id':
      return { notes: [text('end_external')], locked: 'values' };
    default: {
      const max = longest[header];
      const notes = [text(header === 'description' ? 'multiline_text' : 'text')];
      return { notes: max === undefined ? notes : [...notes, text('max', { count: max })] };
    }
  }
}

function attributePart(key: string, options: FormOptions): Part {
  const { language, currency, field: fieldOf } = options;
  const field = fieldOf(key);
  if (!field) return { notes: [] };
  const { label, type, required, readonly, optionLabels } = field;
  const notes = [label, say(language, type, { currency })];
  if (required) notes.push(say(language, 'required'));
  if (readonly) notes.push(say(language, 'computed'));
  const part: Part = { notes, ...(readonly && { locked: 'all' as const }) };
  if (type === 'boolean') part.choices = [true, false];
  if (type !== 'single_select' && type !== 'multiple_select') return part;
  const { choices, texts } = chosenOf(optionLabels, field.findOption, options);
  notes.push(allowed(choices, language));
  if (texts) part.texts = texts;
  if (type === 'single_select') part.choices = choices;
  return part;
}

/** What a list offers for keys and their labels. */
function chosenOf(
  values: ReadonlyMap<string, string>,
  find: (label: string) => string | undefined,
  { headers }: FormOptions,
): { choices: string[]; texts?: ReadonlyMap<string, string> } {
  if (headers === 'keys') return { choices: [...values.keys()] };
  const texts = new Map([...values].map(([key, label]) => [key, labelOrKey(find, key, label)]));
  return { choices: [...texts.values()], texts };
}

/** The first allowed values, and how many more there are. */
function allowed(values: readonly string[], language: string): string {
  const named = values.slice(0, MOST_NAMED).join(', ');
  const more = values.length - MOST_NAMED;
  const text = more > 0 ? `${named} ${say(language, 'more', { count: more })}` : named;
  return say(language, 'allowed', { values: text });
}
