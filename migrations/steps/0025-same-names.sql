-- Card types whose cards below one parent may share a name, if each of them has an external id.
alter table card_types add column allow_same_name boolean not null default false;
-- The external id of an active card of such a type: it tells cards of one name apart.
alter table cards add column sibling_key text;

create unique index cards_sibling_key on cards
  (type, coalesce(parent_id, '00000000-0000-0000-0000-000000000000'::uuid), md5(lower(name)), coalesce(sibling_key, ''))
  where status = 'ACTIVE';
drop index cards_sibling_name;
alter index cards_sibling_key rename to cards_sibling_name;

-- The index keeps cards of one name without external ids apart; that a card with one shares its name with a card without, it cannot see.
-- Therefore writers of a name wait for each other, unless all of them bring external ids.
create function keep_sibling_name() returns trigger language plpgsql as $$
declare
  bucket integer;
begin
  new.sibling_key := null;
  if new.status <> 'ACTIVE' or not exists (select from card_types where key = new.type and allow_same_name) then
    return new;
  end if;
  new.sibling_key := new.external_id;
  -- few locks: a transaction may write all cards of a type
  bucket := hashtext(new.type || ' ' || lower(new.name)) & 63;
  if new.external_id is null then
    perform pg_advisory_xact_lock(7203011, bucket);
  else
    perform pg_advisory_xact_lock_shared(7203011, bucket);
  end if;
  if exists (
    select from cards o where o.type = new.type and o.status = 'ACTIVE'
      and coalesce(o.parent_id, '00000000-0000-0000-0000-000000000000'::uuid)
        = coalesce(new.parent_id, '00000000-0000-0000-0000-000000000000'::uuid)
      and md5(lower(o.name)) = md5(lower(new.name)) and o.id <> new.id
      and (new.external_id is null or o.external_id is null)
  ) then
    raise exception 'a sibling has the name, and one of both has no external id'
      using errcode = '23505', constraint = 'cards_sibling_name', table = 'cards';
  end if;
  return new;
end $$;

create trigger cards_sibling_name_created before insert on cards
  for each row execute function keep_sibling_name();
create trigger cards_sibling_name_updated before update on cards for each row
  when ((old.type, old.name, old.parent_id, old.status, old.external_id, old.sibling_key)
    is distinct from (new.type, new.name, new.parent_id, new.status, new.external_id, new.sibling_key))
  execute function keep_sibling_name();

-- Without the permission, the names of all its cards are unique again.
create function end_same_names() returns trigger language plpgsql as $$
begin
  update cards set sibling_key = null where type = new.key and sibling_key is not null;
  return null;
end $$;
create trigger card_types_same_names after update of allow_same_name on card_types for each row
  when (old.allow_same_name and not new.allow_same_name) execute function end_same_names();
update topic_versions set version = version + 1 where topic = 'metamodel';
