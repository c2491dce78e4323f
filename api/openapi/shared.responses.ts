import { type OpenApiDocument, type OpenApiResponse, operationsOf, reference } from './document.ts';
import { capital } from './schema-names.ts';

/** Codes that always occur codeGroups get one name. */
const codeGroups: [name: string, codes: string[]][] = [
  ['cursor', ['cursor_expired', 'cursor_mismatch']],
  ['idempotency', ['idempotency_in_progress', 'idempotency_key_reused']],
];

/** Maximum number of codes in a component's name. */
const MAX_NAMES = 4;

/** Successful responses of many operations, by their descriptions; the form that most of them have is shared. */
const successNames: Record<string, string> = {
  'The job that was started, as preferred': 'StartedJob',
  Deleted: 'Deleted',
  'The decision': 'Decision',
  'The statement': 'Statement',
};
/** Successful responses of fewer operations are not shared. */
const MANY = 5;

/** Moves responses of several operations to the components: errors, started jobs and deletions. */
export function shareResponses(document: OpenApiDocument): void {
  const { responses: shared } = document.components;
  const candidates = operationsOf(document).flatMap(({ responses }) =>
    Object.entries(responses)
      .filter(([status, { description }]) => !isSuccess(status) || description in successNames)
      .map(([status, response]) => ({ responses, status, response, text: JSON.stringify(response) })),
  );
  const uses = Map.groupBy(candidates, ({ text }) => text);
  for (const { responses, status, response, text } of candidates) {
    const name = nameOf(status, response);
    if (!name || uses.get(text)!.length < (isSuccess(status) ? MANY : 2)) continue;
    shared[name] ??= response;
    if (JSON.stringify(shared[name]) !== text) throw new Error(`two responses would have the name ${name}`);
    responses[status] = reference('responses', name);
  }
}

const isSuccess = (status: string): boolean => status.startsWith('2');

/** For example `CursorOrValidationFailed`, prefixed by `Scim`, `OData`, `Mcp` or `Page` if it is not a problem document. */
function nameOf(status: string, response: OpenApiResponse): string | undefined {
  if ('$ref' in response) return undefined;
  const media = Object.keys(response.content ?? {});
  const form = media.includes('application/scim+json')
    ? 'Scim'
    : media.includes('text/html')
      ? 'Page'
      : media.length > 1
        ? 'Mcp'
        : media[0] === 'application/json'
          ? 'OData'
          : '';
  if (isSuccess(status)) return successNames[response.description];
  if (status === '304') return 'NotModified';
  if (status === 'default') return `${form}Other`;
  let names = response['x-error-codes'] ?? [];
  for (const [name, codes] of codeGroups) {
    if (!codes.every((code) => names.includes(code))) continue;
    names = [...names.filter((one) => !codes.includes(one)), name].sort();
  }
  if (names.length === 0 || names.length > MAX_NAMES) return undefined;
  return form + names.map(capital).join('Or');
}
