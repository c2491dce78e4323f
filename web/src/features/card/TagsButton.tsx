import { Checkbox, Popover } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addCardTags, answer, removeCardTag, type TagGroup } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { TagMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import { groupsOfType, tagGroupsQuery } from '../../kit/tagGroups.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';

/** Gives the card tags and takes them away, by group. */
export function TagsButton() {
  const t = useTexts();
  const { card, can } = useCard();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({ ...tagGroupsQuery, enabled: isOpen });
  const groups = groupsOfType(data ?? [], card.type).filter(({ tags }) => tags.length > 0);
  if (!can('edit')) return null;
  return (
    <span id="tags">
      <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus width={320}>
        <Popover.Target>
          <button type="button" className={styles.addChip} onClick={() => setOpen(!isOpen)} data-fill>
            <Icon name="add" size={14} /> {t('tags.tag')}
          </button>
        </Popover.Target>
        <Popover.Dropdown className={styles.menu} aria-label={t('field.tags')}>
          {groups.map((group) => (
            <TagGroupChoice key={group.id} group={group} />
          ))}
          {data && groups.length === 0 && <p className="secondary">{t('tags.none')}</p>}
        </Popover.Dropdown>
      </Popover>
    </span>
  );
}

function TagGroupChoice({ group }: { group: Required<TagGroup> }) {
  const t = useTexts();
  const reasonOf = useReason();
  const { card, act } = useCard();
  const chosen = new Set(card.tags?.map(({ id }) => id));
  const isMissing = group.mandatory && !group.tags.some(({ id }) => chosen.has(id));
  const toggle = async (id: string, name: string) => {
    const path = { id: card.id, tag_id: id };
    try {
      await act(t(chosen.has(id) ? 'tags.removed' : 'tags.added', { name }), async (headers) => {
        if (chosen.has(id)) return (await answer(removeCardTag({ path, headers }))).headers;
        // a group of single tags takes the new one instead
        const others = group.mode === 'single' ? group.tags.filter((one) => chosen.has(one.id)) : [];
        for (const other of others)
          await answer(removeCardTag({ path: { id: card.id, tag_id: other.id }, headers }));
        return (await answer(addCardTags({ path: { id: card.id }, body: [id], headers }))).headers;
      });
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  return (
    <fieldset className={styles.tagGroup}>
      <legend>
        {group.name} {group.mode === 'single' && <span className="secondary">{t('tags.single')}</span>}{' '}
        {isMissing && <span className={styles.missing}>{t('relations.mandatory')}</span>}
      </legend>
      {group.tags.map(({ id, name, color }) => (
        <Checkbox
          key={id}
          checked={chosen.has(id)}
          onChange={() => void toggle(id, name)}
          label={<TagMark name={name} color={color} />}
        />
      ))}
    </fieldset>
  );
}
