import { FieldValue, none } from '../../kit/FieldValue.tsx';
import { LifecycleBar } from '../../kit/LifecycleBar.tsx';
import type { Lifecycle } from '../../kit/lifecycle.ts';
import type { CellEdit } from './edits.ts';

/** A value of a cell that is edited, by its kind. */
export function EditedValue({ edit, value }: { edit: CellEdit; value: unknown }) {
  if (value === null || value === undefined) return none;
  if (edit.kind === 'lifecycle') return <LifecycleBar lifecycle={value as Lifecycle} />;
  if (edit.kind === 'field') return <FieldValue field={edit.field} value={value} />;
  const several = Array.isArray(value) ? value : [value];
  return several
    .map((one) => (typeof one === 'string' ? one : (one as { name: string }).name))
    .join(edit.kind === 'parent' ? ' / ' : ', ');
}
