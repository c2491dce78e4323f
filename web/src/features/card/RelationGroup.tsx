import { ActionIcon, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, call, createCard, createRelation, deleteRelation, items, listRelations } from '#client';
import { CardFinder } from '../../kit/finders.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { RelationDialog } from './RelationDialog.tsx';
import type { RelatedItem, RelationGroup } from './relations.ts';

interface GroupProps {
  group: RelationGroup;
  /** Instead of the type at the other end. */
  title?: string;
  /** Whether a card is looked for at once. */
  isAdding?: boolean;
  onAdded?(): void;
}

/** The relations of one type and direction: the cards, and a field that finds and relates further ones. */
export function Group({ group, title, isAdding = false, onAdded }: GroupProps) {
  const t = useTexts();
  const { can } = useCard();
  const { type: typeOf, label, verb } = useMetamodel();
  const [isOpen, setOpen] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const { data: all } = useAll(group, isWhole);
  const items = all ?? group.items;
  const { type, direction, other, count, isMandatory, key } = group;
  const isLooking = isOpen || isAdding;
  const close = () => {
    setOpen(false);
    onAdded?.();
  };
  return (
    <div className={styles.group} id={key} tabIndex={-1}>
      <h3>
        <TypeMark type={other} size={18} />
        {title ?? label(typeOf(other)!)}
        <span className="secondary">
          {verb(type, direction)} · {count}
        </span>
        {can('manage_relations') && (
          <ActionIcon
            size="sm"
            className={styles.headButton}
            aria-label={t('relations.add', { type: title ?? label(typeOf(other)!) })}
            onClick={() => setOpen(true)}
            data-fill
          >
            <Icon name="add" />
          </ActionIcon>
        )}
      </h3>
      <div className={styles.chips}>
        {items.map((item) => (
          <RelationChip key={item.relation_id} group={group} item={item} />
        ))}
        {count > items.length && (
          <button type="button" className={styles.moreButton} onClick={() => setWhole(true)}>
            {t('facets.more', { count: count - items.length })}
          </button>
        )}
        {count === 0 && !isLooking && (
          <span className={isMandatory ? styles.missing : 'muted'}>
            {t(isMandatory ? 'relations.mandatory' : 'relations.none')}
          </span>
        )}
      </div>
      {isLooking && <Adder group={group} items={items} onDone={close} />}
    </div>
  );
}

/** All relations of a group, beyond those of the overview. */
function useAll({ type, direction }: RelationGroup, enabled: boolean) {
  const { card } = useCard();
  const [own, other] =
    direction === 'outgoing' ? (['source', 'target'] as const) : (['target', 'source'] as const);
  return useQuery({
    queryKey: ['card', card.id, 'relations', type.key, direction],
    queryFn: async ({ signal }): Promise<RelatedItem[]> => {
      const related: RelatedItem[] = [];
      const query = { card_id: card.id, type: type.key, page_size: 200, sort_by: other };
      const read = (cursor: string) => listRelations({ signal, query: { ...query, cursor } });
      for await (const { id, attributes, description, ...ends } of items(read))
        if (ends[own]!.id === card.id)
          related.push({
            relation_id: id!,
            attributes: attributes!,
            description: description!,
            card: ends[other]!,
          } as RelatedItem);
      return related;
    },
    enabled,
    placeholderData: keepPreviousData,
  });
}

function Adder({
  group,
  items,
  onDone,
}: {
  group: RelationGroup;
  items: readonly RelatedItem[];
  onDone(): void;
}) {
  const t = useTexts();
  const reasonOf = useReason();
  const { card, act } = useCard();
  const { type: typeOf, label } = useMetamodel();
  const { type, direction, other } = group;
  const relate = async (name: string, find: (action: Record<string, string>) => Promise<string>) => {
    onDone();
    try {
      await act(t('relations.added', { name }), async (headers) => {
        const id = await find(headers);
        const [source_id, target_id] = direction === 'outgoing' ? [card.id, id] : [id, card.id];
        const made = await answer(
          createRelation({ body: { type: type.key, source_id, target_id }, headers }),
        );
        return made.headers;
      });
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  return (
    <CardFinder
      autoFocus
      label={t('relations.find', { type: label(typeOf(other)!) })}
      placeholder={t('relations.find', { type: label(typeOf(other)!) })}
      types={[other]}
      except={new Set([card.id, ...items.map((item) => item.card.id)])}
      onPick={(picked) => void relate(picked.name, async () => picked.id)}
      onCreate={(name) =>
        void relate(
          name,
          async (headers) => (await call(createCard({ body: { type: other, name }, headers }))).id,
        )
      }
      onCancel={onDone}
    />
  );
}

/** A related card with what the relation says, and a menu. */
function RelationChip({ group, item }: { group: RelationGroup; item: RelatedItem }) {
  const t = useTexts();
  const reasonOf = useReason();
  const { act, can } = useCard();
  const [isOpen, setOpen] = useState(false);
  const { relation_id: id, card } = item;
  const note = useNote(group.type.attributes_schema as unknown as Field[], item.attributes);
  const remove = async () => {
    try {
      await act(
        t('relations.removed', { name: card.name }),
        async () => (await answer(deleteRelation({ path: { id } }))).headers,
      );
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  return (
    <span className={styles.relation} title={item.description ?? undefined}>
      <Link to="/cards/$id" params={{ id: card.id }}>
        {card.name}
        {note && <span className={styles.note}> {note}</span>}
      </Link>
      <Menu position="bottom-start">
        <Menu.Target>
          <button
            type="button"
            className={styles.chipMenu}
            aria-label={t('relations.more', { name: card.name })}
          >
            <Icon name="more_horiz" size={14} />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="tune" />} onClick={() => setOpen(true)}>
            {t('relations.details')}
          </Menu.Item>
          {can('manage_relations') && (
            <Menu.Item color="red" leftSection={<Icon name="link_off" />} onClick={() => void remove()}>
              {t('relations.remove')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isOpen && <RelationDialog group={group} item={item} onClose={() => setOpen(false)} />}
    </span>
  );
}

/** What the attributes of a relation say, in a few letters. */
function useNote(fields: readonly Field[], attributes: Record<string, unknown>): string {
  const format = useFormat();
  const { label } = useMetamodel();
  const flags = fields.filter(({ type, key }) => type === 'boolean' && attributes[key] === true);
  const isLetters = fields.filter(({ type }) => type === 'boolean').length > 2;
  const texts = fields.flatMap((field): string[] => {
    const value = attributes[field.key];
    if (value === undefined || value === null || value === '' || field.type === 'boolean') return [];
    if (field.options)
      return [value].flat().map((key) => {
        const option = field.options!.find((one) => one.key === key);
        return option ? label(option).toLowerCase() : String(key);
      });
    if (typeof value === 'number')
      return [field.type === 'cost' ? format.shortMoney(value) : format.number(value)];
    return [String(value)];
  });
  return [...texts, ...flags.map((field) => (isLetters ? label(field)[0]! : label(field)))].join(' ');
}
