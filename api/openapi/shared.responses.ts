import { type OpenApiDocument, type OpenApiResponse, operationsOf, reference } from './document.ts';
import { capital } from './schema-names.ts';

/** Codes that always occur codeGroups get one name. */
const codeGroups: [name: string, codes: string[]][] = [
  ['cursor', ['cursor_expired', 'cursor_mismatch']],
  ['idempotency', ['idempotency_in_progress', 'idempotency_key_reused']],
];

/** Maximum number of codes in a component's name. */
const MAX_NAMES = 4;

/** Moves error responses of several operations to the components. */
export function shareResponses(document: OpenApiDocument): void {
  const { responses: shared } = document.components;
  const failures = operationsOf(document).flatMap(({ responses }) =>
    Object.entries(responses)
      .filter(([status]) => !status.startsWith('2'))
      .map(([status, response]) => ({ responses, status, response, text: JSON.stringify(response) })),
  );
  const uses = Map.groupBy(failures, ({ text }) => text);
  for (const { responses, status, response, text } of failures) {
    const name = nameOf(status, response);
    if (!name || uses.get(text)!.length === 1) continue;
    shared[name] ??= response;
    if (JSON.stringify(shared[name]) !== text) throw new Error(`two responses would have the name ${name}`);
    responses[status] = reference('responses', name);
  }
}

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
