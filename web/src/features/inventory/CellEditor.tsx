import { Popover, Stack, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { FieldEditor, type Leave, SeveralEditor } from '../../kit/FieldEditor.tsx';
import { CardFinder } from '../../kit/finders.tsx';
import { type Lifecycle, phases } from '../../kit/lifecycle.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
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
export function CellEditor(given: CellEditorProps) {
  const { edit, begin } = given;
  const isDone = useRef(false);
  // a control that goes away after Enter also loses the focus, which would save again
  const once = (act: () => void) => {
    if (isDone.current) return;
    isDone.current = true;
    act();
  };
  const onCancel = () => once(given.onCancel);
  const onSave = (value: unknown, leave: Leave) => once(() => given.onSave(value, leave));
  const props = { ...given, onCancel, onSave };
  return (
    <div
      className={styles.editor}
      role="group"
      aria-label={edit.field.label}
      data-editor
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Escape') onCancel();
      }}
    >
      {edit.kind === 'lifecycle' ? (
        <LifecycleEditor {...props} />
      ) : edit.kind === 'parent' ? (
        <ParentEditor {...props} />
      ) : edit.kind === 'tags' ? (
        <TagsEditor {...props} />
      ) : (
        <FieldEditor
          field={edit.field}
          value={edit.value}
          begin={begin}
          cell={cell}
          onSave={onSave}
          onCancel={onCancel}
        />
      )}
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
