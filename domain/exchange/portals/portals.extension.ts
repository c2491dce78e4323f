import type { Extension } from '../../kernel/extensions.ts';
import { portalUndo } from './portals.events.ts';

/** Portals. */
export const portalsExtension: Extension = {
  undo: portalUndo,
};
