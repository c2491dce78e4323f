import { EstateError } from '../../../platform/errors.ts';
import type { SettingKey, WorkspaceSettings } from './settings.read.ts';

/** The modules that a workspace can disable, with the setting of each. */
const switches = {
  bpm: 'bpm_enabled',
  ppm: 'ppm_enabled',
  grc: 'grc_enabled',
  ai_analysis: 'ai_analysis_enabled',
  file_uploads: 'file_uploads_enabled',
  mcp: 'mcp_enabled',
} as const satisfies Record<string, SettingKey>;

export type Module = keyof typeof switches;

export const isEnabled = ({ values }: WorkspaceSettings, module: Module): boolean => values[switches[module]];

/** @throws EstateError `module_disabled` naming the module. */
export function requireModule(settings: WorkspaceSettings, module: Module): void {
  if (!isEnabled(settings, module)) throw moduleDisabled(module);
}

/** The error that names the module. */
export function moduleDisabled(module: Module): EstateError {
  return new EstateError('module_disabled', `The module ${module} is switched off in this workspace.`, {
    extra: { module },
  });
}
