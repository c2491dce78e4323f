import type { FieldError } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import {
  checkLine,
  checkText,
  MAX_ALIAS,
  MAX_DESCRIPTION,
  MAX_EXTERNAL_ID,
  MAX_NAME,
} from '../../inventory/cards/rules/text.ts';
import { checkLifecycle, checkValue } from '../../inventory/cards/rules/values.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { type FieldType, lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';

/** What a card's field holds, as far as telling it elsewhere goes. */
export type LocalKind = 'text' | 'number' | 'boolean' | 'date' | 'option' | 'options' | 'card';

/** A field of a card that can be mapped. */
export interface LocalField {
  path: string;
  kind: LocalKind;
  /** The type of the cards that one of the kind `card` leads to. */
  refersTo?: string;
  cost: boolean;
  /** Why a synchronisation cannot set it; null when it can. */
  readonly: string | null;
  /** What is wrong with a value that is not null. */
  fault(value: unknown): string | undefined;
}

const kinds: Record<FieldType, LocalKind> = {
  text: 'text',
  multiline_text: 'text',
  url: 'text',
  number: 'number',
  cost: 'number',
  boolean: 'boolean',
  date: 'date',
  single_select: 'option',
  multiple_select: 'options',
};

type Check = (field: string, value: string) => FieldError | undefined;

const line =
  (max: number): Check =>
  (field, value) =>
    checkLine(field, value, max);

const texts: Record<string, Check> = {
  name: line(MAX_NAME),
  alias: line(MAX_ALIAS),
  external_id: line(MAX_EXTERNAL_ID),
  description: (field, value) => checkText(field, value, MAX_DESCRIPTION),
};

/** The field of a type's cards at a path; undefined where there is none. */
export function localField(type: CardType, path: string): LocalField | undefined {
  const plain = { path, cost: false, readonly: null };
  const check = Object.hasOwn(texts, path) ? texts[path] : undefined;
  if (check) {
    return {
      ...plain,
      kind: 'text',
      fault: (value) => (typeof value === 'string' ? check(path, value)?.message : 'must be a text'),
    };
  }
  if (path === 'subtype') {
    return {
      ...plain,
      kind: 'option',
      fault: (value) => (type.subtypeKeys.has(value as string) ? undefined : 'is no subtype of this type'),
    };
  }
  if (path === 'parent_id' && type.has_hierarchy) {
    return {
      ...plain,
      kind: 'card',
      refersTo: type.key,
      fault: (value) => (isUuid(String(value)) ? undefined : 'must be the id of a card'),
    };
  }
  const [, group, key] = /^(lifecycle|attributes)\.(.+)$/.exec(path) ?? [];
  if (group === 'lifecycle' && (lifecyclePhases as readonly string[]).includes(key!)) {
    return { ...plain, kind: 'date', fault: (value) => checkLifecycle({ [key!]: value })[0]?.message };
  }
  const field = group === 'attributes' ? type.fields.get(key!) : undefined;
  if (!field) return undefined;
  return {
    path,
    kind: kinds[field.type],
    cost: field.type === 'cost',
    readonly: field.readonly
      ? field.calculated
        ? 'is computed by a formula'
        : 'is set by the service alone'
      : null,
    fault: (value) => checkValue(field, path, value)?.message,
  };
}
