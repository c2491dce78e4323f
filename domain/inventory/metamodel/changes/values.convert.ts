import { isDay } from '../../../kernel/dates.ts';
import type { CompiledField } from '../../../kernel/metamodel/metamodel.compile.ts';
import { checkValue } from '../../cards/rules/values.ts';

/** A number as people write it, which keeps every digit when it is read. */
const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,6})?$/;
const EXACT_DIGITS = 15;

/** A text that holds a value of the type without loss. */
function fromText(to: CompiledField, text: string): unknown {
  switch (to.type) {
    case 'text':
    case 'multiline_text':
    case 'url':
      return text;
    case 'number':
    case 'cost': {
      const plain = text.trim();
      const exact = PLAIN_NUMBER.test(plain) && plain.replace(/\D/g, '').length <= EXACT_DIGITS;
      return exact ? Number(plain) : undefined;
    }
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'date':
      return isDay(text.trim()) ? text.trim() : undefined;
    case 'single_select':
      return optionOf(to, text);
    case 'multiple_select': {
      const option = optionOf(to, text);
      return option === undefined ? undefined : [option];
    }
  }
}

/** The option of the key, or else the only one with the label. */
function optionOf(to: CompiledField, text: string): string | undefined {
  if (to.options.has(text)) return text;
  const wanted = text.trim().toLowerCase();
  const labelled = [...to.optionLabels].filter(([, label]) => label.trim().toLowerCase() === wanted);
  return labelled.length === 1 ? labelled[0]![0] : undefined;
}

function converted(to: CompiledField, value: unknown): unknown {
  if (typeof value === 'string') return fromText(to, value);
  if (Array.isArray(value)) {
    if (to.type === 'multiple_select') return value;
    return value.length === 1 && typeof value[0] === 'string' ? fromText(to, value[0]) : undefined;
  }
  const asText = to.type === 'text' || to.type === 'multiline_text';
  if (typeof value === 'number') {
    if (to.type === 'number' || to.type === 'cost') return value;
    return asText ? String(value) : undefined;
  }
  if (typeof value === 'boolean') return to.type === 'boolean' ? value : asText ? String(value) : undefined;
  return undefined;
}

/**
 * A stored value as one of the field's new type, when nothing is lost by it: texts that spell the new value out,
 * single values as texts, one option as a list of one. Undefined when it does not fit.
 */
export function convertValue(to: CompiledField, value: unknown): unknown {
  const result = converted(to, value);
  return result !== undefined && checkValue(to, to.key, result) === undefined ? result : undefined;
}
