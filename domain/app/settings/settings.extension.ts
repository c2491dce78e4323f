import type { Extension } from '../../kernel/extensions.ts';
import { settingUndo } from './settings.undo.ts';

/** Settings. */
export const settingsExtension: Extension = {
  undo: settingUndo,
};
