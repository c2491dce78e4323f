import { scimErrors } from './access/scim/scim.errors.ts';
import { mcpErrors } from './app/mcp/mcp.errors.ts';
import { odataErrors } from './exchange/odata/odata.errors.ts';
import { portalErrors } from './exchange/portals/page/portal.error.ts';
import type { ErrorFormat } from './types.ts';

/** The formats of errors other than the problem document. */
export const errorFormats = {
  scim: scimErrors,
  html: portalErrors,
  mcp: mcpErrors,
  odata: odataErrors,
} satisfies Record<string, ErrorFormat>;
