import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { Group } from './RelationGroup.tsx';
import { useRelationGroups } from './relations.ts';

/** The related cards by relation type and direction; those that must have some are shown empty, too. */
export function RelationsPanel() {
  const t = useTexts();
  const { can } = useCard();
  const { type: typeOf, label, verb } = useMetamodel();
  const groups = useRelationGroups();
  // a group that was empty, while a card for it is looked for
  const [begun, setBegun] = useState<string>();
  if (!groups) return null;
  const { shown, empty } = groups;
  const total = shown.reduce((sum, { count }) => sum + count, 0);
  const all = [...shown, ...empty.filter(({ key }) => key === begun)];
  return (
    <section className={styles.panel} aria-label={t('card.relations')}>
      <h2>
        {t('card.relations')} <span className="secondary">{total}</span>
        {can('manage_relations') && empty.length > 0 && (
          <Menu position="bottom-end" width={280} returnFocus={false}>
            <Menu.Target>
              <Button
                size="compact-xs"
                variant="default"
                className={styles.headButton}
                leftSection={<Icon name="add_link" size={14} />}
              >
                {t('relations.relate')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown className={styles.menu}>
              {empty.map(({ key, type, direction, other }) => (
                <Menu.Item
                  key={key}
                  leftSection={<TypeMark type={other} size={18} />}
                  rightSection={<span className="secondary">{verb(type, direction)}</span>}
                  onClick={() => setBegun(key)}
                >
                  {label(typeOf(other)!)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </h2>
      {all.length === 0 && <p className="secondary">{t('card.noRelations')}</p>}
      <div className={styles.relations}>
        {all.map((group) => (
          <Group
            key={group.key}
            group={group}
            isAdding={group.key === begun}
            onAdded={() => setBegun(undefined)}
          />
        ))}
      </div>
    </section>
  );
}

/** What came before the card, and what comes after it. */
export function LineagePanel() {
  const t = useTexts();
  const { can } = useCard();
  const lineage = useRelationGroups()?.lineage ?? [];
  if (!lineage.some(({ count }) => count > 0) && !(can('manage_relations') && lineage.length > 0))
    return null;
  return (
    <section className={styles.panel} aria-label={t('relations.lineage')}>
      <h2>{t('relations.lineage')}</h2>
      <div className={styles.relations}>
        {lineage.map((group) => (
          <Group key={group.key} group={group} title={t(`relations.${group.direction}`)} />
        ))}
      </div>
    </section>
  );
}
