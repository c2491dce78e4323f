import type { ErrorCode } from '../../platform/errors.ts';

/** What a model may do about a refusal. */
const hints: Partial<Record<ErrorCode | 'answer_too_large', string>> = {
  ai_not_configured:
    'Without a language model: say it with names of describe_metamodel, or use query_inventory.',
  answer_too_large: 'Ask again for fewer items or fields, or narrow by a filter.',
  cursor_expired: 'Begin again without `cursor`.',
  cursor_mismatch: 'Send the arguments of the call that gave the cursor, or begin again without `cursor`.',
  document_signed: 'It stays as it was signed: revise it, and change the draft that comes of it.',
  duplicate_relation: 'It is there already: list_relations tells its id.',
  external_id_taken: 'search_cards finds the card that has it: it may be the one that is meant.',
  forbidden:
    'The token may not do this, and trying again changes nothing: tell whom you work for which permission is missing.',
  merged: 'Go on with the card into which it was merged.',
  module_disabled: 'Only an administrator can switch it on.',
  not_found: 'Ids come from lists: look it up again. What the token may not see is not found either.',
  position_expired: 'Begin again with `after: "now"`, and read the cards anew.',
  precondition_failed: 'Read it again, look whether the change is still wanted, and send the new `etag`.',
  query_too_heavy: 'Narrow it by `filter`, or ask for fewer dimensions.',
  question_not_understood: 'Say it with names of describe_metamodel, or use query_inventory.',
  sibling_name_taken: 'search_cards finds the card of this name: it may be the one that is meant.',
  too_many_requests: 'Wait a minute before the next call.',
  wrong_state:
    'Read it again: its state is another than this needs. A batch is undone once close_batch has closed it.',
};

/** Codes of faults for which names, keys or options were not known. */
const unknownNames = new Set([
  'unknown_attribute',
  'unknown_field',
  'unknown_option',
  'unknown_type',
  'unknown_phase',
  'unknown_subtype',
  'unknown_value',
  'end_type',
  'filter_unknown_field',
  'filter_value',
]);

/** The advice for a refusal; undefined where its own words are all that can be said. */
export function hintFor({ code, errors }: Record<string, unknown>): string | undefined {
  if (code !== 'validation_failed') return hints[code as ErrorCode];
  const codes = (Array.isArray(errors) ? errors : []).map((error: { code?: unknown }) => String(error.code));
  if (codes.some((one) => one === 'filter_syntax'))
    return 'Filters are comparisons `path = value` with and, or, not and brackets; texts stand in double quotes.';
  if (codes.some((one) => unknownNames.has(one)))
    return 'describe_metamodel tells the types, with `type` the fields, options and relation types of one; arguments are those of the tool’s schema.';
  return undefined;
}
