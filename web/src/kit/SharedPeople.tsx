import { Button, Checkbox } from '@mantine/core';
import { PersonFinder } from './finders.tsx';
import { Avatar } from './marks.tsx';
import { useTexts } from './messages.tsx';
import styles from './shared-people.module.css';

/** A person with whom something is shared. */
export interface Share {
  user_id: string;
  can_edit: boolean;
  display_name: string | null;
}

interface SharedPeopleProps {
  shares: readonly Share[];
  /** People that are not offered besides those that are chosen. */
  exclude?: readonly string[];
  onChange(shares: Share[]): void;
}

/** The people with whom something is shared, and which of them may change it. */
export function SharedPeople({ shares, exclude = [], onChange }: SharedPeopleProps) {
  const t = useTexts();
  return (
    <div>
      <PersonFinder
        look="form"
        label={t('share.addPerson')}
        placeholder={t('person.find')}
        except={new Set([...exclude, ...shares.map(({ user_id }) => user_id)])}
        onPick={({ id, display_name }) =>
          onChange([...shares, { user_id: id, display_name, can_edit: false }])
        }
      />
      {shares.map((share) => (
        <div key={share.user_id} className={styles.share}>
          <Avatar name={share.display_name ?? '?'} />
          <span>{share.display_name}</span>
          <Checkbox
            label={t('share.mayEdit')}
            checked={share.can_edit}
            onChange={(event) =>
              onChange(
                shares.map((one) => (one === share ? { ...one, can_edit: event.target.checked } : one)),
              )
            }
          />
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            onClick={() => onChange(shares.filter((one) => one !== share))}
          >
            {t('action.remove')}
          </Button>
        </div>
      ))}
    </div>
  );
}
