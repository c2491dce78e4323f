import hints from './mcp.hints.json' with { type: 'json' };

const byCode: Readonly<Record<string, string>> = hints.byCode;

/** Advice for a model about an error; undefined if the error's own message says everything. */
export function hintFor({ code, errors }: Record<string, unknown>): string | undefined {
  if (code !== 'validation_failed') return byCode[String(code)];
  const codes = (Array.isArray(errors) ? errors : []).map((error: { code?: unknown }) => String(error.code));
  if (codes.includes('filter_syntax')) return hints.filterSyntax;
  return codes.some((one) => hints.unknownNameCodes.includes(one)) ? hints.unknownName : undefined;
}
