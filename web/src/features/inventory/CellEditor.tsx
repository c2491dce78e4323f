import { Popover, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { FieldEditor, type Leave, SeveralEditor } from '../../kit/FieldEditor.tsx';
import { CardFinder } from '../../kit/finders.tsx';
import { type Lifecycle, phases } from '../../kit/lifecycle.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useOnce } from '../../kit/once.ts';
import type { CellEdit } from './edits.ts';
import styles from './table.module.css';
import { useTagOptions } from './tags.ts';

export interface CellEditorProps {
  edit: CellEdit;
  cardType: string;
  cardId: string;
  /** What was typed to begin, or was refused before; undefined begins with the value. */
  begin: string | undefined;
  onSave(value: unknown, leave: Leave): void;
  onCancel(): void;
}

const cell = { input: styles.editorInput!, long: styles.longEditor! };

/** The control of a cell that is edited, by the kind of its value. */
export function CellEditor(props: CellEditorProps) {
  const { edit, begin, onSave, onCancel } = props;
  return (
    <div
      className={styles.editor}
      role="group"
      aria-label={edit.field.label}
      data-editor
      onKeyDown={(event) => event.stopPropagation()}
    >
      {edit.kind === 'field' ? (
        <FieldEditor
          field={edit.field}
          value={edit.value}
          begin={begin}
          cell={cell}
          onSave={onSave}
          onCancel={onCancel}
        />
      ) : (
        <PartEditor {...props} />
      )}
    </div>
  );
}

/** Edits what is no field of the card's own. */
function PartEditor(given: CellEditorProps) {
  const props = useOnce<[unknown, Leave], CellEditorProps>(given);
  const Editor = { lifecycle: LifecycleEditor, parent: ParentEditor, tags: TagsEditor };
  const { kind } = props.edit;
  if (kind === 'field') return null;
  const Own = Editor[kind];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears the Esc of the control in it
    <div onKeyDown={(event) => event.key === 'Escape' && props.onCancel()}>
      <Own {...props} />
    </div>
  );
}

function TagsEditor({ edit: { field, value }, cardType, onSave, onCancel }: CellEditorProps) {
  const ids = ((value ?? []) as { id: string }[]).map(({ id }) => id);
  return (
    <SeveralEditor
      label={field.label}
      data={useTagOptions(cardType)}
      value={ids}
      cell={cell}
      onSave={(chosen, leave) => onSave(chosen ?? [], leave)}
      onCancel={onCancel}
    />
  );
}

function ParentEditor({ edit: { field, value }, cardType, cardId, onSave, onCancel }: CellEditorProps) {
  return (
    <CardFinder
      label={field.label}
      types={[cardType]}
      except={new Set([cardId])}
      autoFocus
      className={styles.longEditor}
      chosen={(value as { name: string } | null)?.name}
      onPick={({ id }) => onSave(id, 'stay')}
      onClear={() => onSave(null, 'stay')}
      onCancel={onCancel}
    />
  );
}

function LifecycleEditor({ edit: { field, value }, onSave, onCancel }: CellEditorProps) {
  const t = useTexts();
  const [dates, setDates] = useState<Lifecycle>((value as Lifecycle | null) ?? {});
  const save = (leave: Leave) => {
    const all = phases.map((phase) => [phase, dates[phase] || null]);
    onSave(Object.fromEntries(all), leave);
  };
  return (
    <Popover
      opened
      onChange={(isOpen) => !isOpen && save('stay')}
      position="bottom-start"
      trapFocus
      shadow="md"
    >
      <Popover.Target>
        <span className={styles.anchor} />
      </Popover.Target>
      <Popover.Dropdown aria-label={field.label}>
        <Stack
          gap="xs"
          data-editor
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === 'Escape') onCancel();
            if (event.key === 'Enter') save('down');
          }}
        >
          {phases.map((phase) => (
            <TextInput
              key={phase}
              type="date"
              label={t(`phase.${phase}` as MessageKey)}
              value={dates[phase] ?? ''}
              onChange={(event) => setDates({ ...dates, [phase]: event.target.value || undefined })}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
