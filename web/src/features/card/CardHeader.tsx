import { Menu, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Card } from '#client';
import { useDocumentTitle } from '../../kit/documentTitle.ts';
import { type Lifecycle, phaseOn, today } from '../../kit/lifecycle.ts';
import { TagMark, ToneMark, TypeMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import { ApprovalMenu } from './ApprovalMenu.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { EditableField } from './EditableField.tsx';
import { SourceMark, useSources } from './marks.tsx';
import { TagsButton } from './TagsButton.tsx';

/** Which card it is: its type, name, state, description and tags. */
export function CardHeader() {
  const t = useTexts();
  const { card, asOf } = useCard();
  useDocumentTitle(() => card.name);
  const sources = useSources();
  const phase = phaseOn(card.lifecycle as Lifecycle | null, asOf ?? today());
  const description = { key: 'description', type: 'multiline_text', label: t('field.description') };
  return (
    <header className={styles.header}>
      <TypeMark type={card.type} size={44} />
      <div className={styles.heading}>
        <div className={styles.titleLine}>
          <CardTitle key={card.id} />
          <ApprovalMenu />
          <SourceMark source={sources.get('name')} />
          {phase && <ToneMark tone="neutral">{t(`phase.${phase}` as MessageKey)}</ToneMark>}
        </div>
        <div className={styles.description}>
          <EditableField field={description} path="description" />
        </div>
        <div className={styles.chips}>
          <span className={styles.number}>{card.number}</span>
          <SubtypeChip />
          {card.tags?.map((tag) => (
            <TagMark key={tag.id} name={tag.name} color={tag.color} />
          ))}
          <TagsButton />
        </div>
      </div>
    </header>
  );
}

/** The name; a click edits it. */
function CardTitle() {
  const t = useTexts();
  const reasonOf = useReason();
  const { card, can, change } = useCard();
  const [edit, setEdit] = useState<{ seen: Card; name: string; error?: string }>();
  if (!edit)
    return (
      <h1>
        {can('edit') ? (
          <button
            type="button"
            className={styles.titleButton}
            title={t('card.rename')}
            onClick={() => setEdit({ seen: card, name: card.name })}
          >
            {card.name}
          </button>
        ) : (
          card.name
        )}
      </h1>
    );
  const save = async () => {
    const { seen, name } = edit;
    if (name.trim() === card.name) return setEdit(undefined);
    try {
      await change(t('field.name'), { name: name.trim() }, seen);
      setEdit(undefined);
    } catch (failed) {
      setEdit({ seen, name, error: reasonOf(failed) });
    }
  };
  return (
    <TextInput
      className={styles.titleField}
      size="md"
      autoFocus
      aria-label={t('field.name')}
      value={edit.name}
      error={edit.error}
      onChange={(event) => setEdit({ ...edit, name: event.target.value })}
      onKeyDown={(event) => {
        if (event.key === 'Enter') void save();
        if (event.key === 'Escape') setEdit(undefined);
      }}
      onBlur={() => void save()}
    />
  );
}

/** The subtype, with those of the type in a menu. */
function SubtypeChip() {
  const t = useTexts();
  const { card, can, change } = useCard();
  const { type: typeOf, label } = useMetamodel();
  const subtypes = (typeOf(card.type)?.subtypes ?? []) as { key: string; label: string }[];
  const subtype = subtypes.find(({ key }) => key === card.subtype);
  if (!can('edit') || subtypes.length === 0)
    return subtype ? <span className={styles.chip}>{label(subtype)}</span> : null;
  const choose = (key: string | null) => void change(t('field.subtype'), { subtype: key }, card);
  return (
    <Menu>
      <Menu.Target>
        <button
          type="button"
          className={styles.chip}
          aria-label={`${t('field.subtype')}: ${subtype ? label(subtype) : '–'}`}
        >
          {subtype ? (
            label(subtype)
          ) : (
            <span className="muted">{t('card.add', { field: t('field.subtype') })}</span>
          )}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {subtypes.map((one) => (
          <Menu.Item key={one.key} disabled={one.key === card.subtype} onClick={() => choose(one.key)}>
            {label(one)}
          </Menu.Item>
        ))}
        {subtype && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => choose(null)}>{t('card.clear')}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
