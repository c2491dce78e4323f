import type { PlainSetting } from '../../domain/kernel/settings/settings.read.ts';
import { settingTable } from '../../domain/kernel/settings/settings.table.ts';

/** The settings of one value, except the switch of the MCP server, which has a permission of its own. */
export const plainSettings = Object.entries(settingTable).flatMap(([key, definition]) =>
  definition.kind === 'plain' && key !== 'mcp_enabled' ? [{ ...definition, key: key as PlainSetting }] : [],
);
