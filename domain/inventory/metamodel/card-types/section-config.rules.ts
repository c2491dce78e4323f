import type { FieldError } from '../../../../platform/errors.ts';

const QUALITY = '__dataQuality';
const ORDER = '__order';
const MAX_WEIGHT = 1_000;
const buckets: ReadonlySet<string> = new Set([
  'description',
  'lifecycle',
  'relations',
  'tags',
  'stakeholders',
]);

/** Parts of a card's page that every type has, beside the sections of its fields. */
const commonParts: ReadonlySet<string> = new Set([
  'description',
  'lifecycle',
  'eol',
  'hierarchy',
  'successors',
  'relations',
  'tags',
  'stakeholders',
  'documents',
  'files',
  'comments',
  'todos',
  'risks',
  'history',
]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Checks how the sections of a type are shown: `{<section>: {defaultExpanded, hidden}, __order: [section],
 * __dataQuality: {<part>: weight}}`.
 */
export function checkSectionConfig(
  config: Record<string, unknown>,
  sections: ReadonlySet<string>,
): FieldError[] {
  const faults: FieldError[] = [];
  const fault = (field: string, code: string, message: string) =>
    void faults.push({ field: `section_config.${field}`, code, message });
  const known = (name: unknown) =>
    typeof name === 'string' && (sections.has(name) || commonParts.has(name.replace(/^__/, '')));
  for (const [key, value] of Object.entries(config)) {
    if (key === QUALITY) checkWeights(value, fault);
    else if (key === ORDER) {
      if (!Array.isArray(value) || !value.every(known))
        fault(key, 'unknown_section', 'must be a list of sections');
      else if (new Set(value).size < value.length) fault(key, 'duplicate', 'names a section twice');
    } else if (!known(key)) fault(key, 'unknown_section', 'is no section of this type');
    else if (!isObject(value)) fault(key, 'wrong_type', 'must be an object');
    else {
      for (const [name, flag] of Object.entries(value)) {
        if (name !== 'defaultExpanded' && name !== 'hidden') {
          fault(`${key}.${name}`, 'unknown_field', 'is not a known field');
        } else if (typeof flag !== 'boolean') fault(`${key}.${name}`, 'wrong_type', 'must be true or false');
      }
    }
  }
  return faults;
}

function checkWeights(value: unknown, fault: (field: string, code: string, message: string) => void): void {
  if (!isObject(value)) {
    fault(QUALITY, 'wrong_type', 'must be an object');
    return;
  }
  for (const [name, weight] of Object.entries(value)) {
    const field = `${QUALITY}.${name}`;
    if (!buckets.has(name)) fault(field, 'unknown_field', `is none of ${[...buckets].join(', ')}`);
    else if (typeof weight !== 'number' || !(weight >= 0 && weight <= MAX_WEIGHT)) {
      fault(field, 'out_of_range', `must be a number from 0 to ${MAX_WEIGHT}`);
    }
  }
}

/** The configuration without sections that are gone. */
export function prunedSectionConfig(
  config: Record<string, unknown>,
  gone: readonly string[],
): Record<string, unknown> {
  const kept = Object.entries(config).filter(([key]) => !gone.includes(key));
  return Object.fromEntries(
    kept.map(([key, value]) =>
      key === ORDER && Array.isArray(value)
        ? [key, value.filter((name) => !gone.includes(name))]
        : [key, value],
    ),
  );
}
