-- Numbers of cards that people can say, such as APP-00042: the prefix of the card type and a number of its sequence.
alter table card_types add column number_prefix text;

-- A prefix that no type has: the first letters of the key, or others.
create function free_number_prefix(key text) returns text language sql volatile as $$
  with given as (select upper(regexp_replace(key, '[^A-Za-z]', '', 'g')) as letters),
  own as (select rpad(letters, greatest(length(letters), 2), 'X') as letters from given),
  abc as (select chr(n) as letter, n from generate_series(65, 90) n),
  candidates as (
    select left(letters, 3) as prefix, 0 as place from own
    union all select left(letters, n), n from own cross join generate_series(4, 5) n
    union all select left(letters, 2) || a.letter, 100 + a.n from own cross join abc a
    union all select left(letters, 1) || a.letter || b.letter, 10000 + 100 * a.n + b.n
      from own cross join abc a cross join abc b
    union all select a.letter || b.letter || c.letter, 1000000 + 10000 * a.n + 100 * b.n + c.n
      from abc a cross join abc b cross join abc c
  )
  select prefix from candidates
  where not exists (select from card_types t where t.number_prefix = prefix) order by place limit 1
$$;

-- Sequences are never dropped: a prefix that another type gets later continues where it was.
create function set_number_prefix() returns trigger language plpgsql as $$
begin
  -- imports and undo may bring a prefix that another type has meanwhile
  if new.number_prefix is null or (tg_op = 'INSERT' and exists (
    select from card_types t where t.number_prefix = new.number_prefix and t.key <> new.key
  )) then
    new.number_prefix := free_number_prefix(new.key);
  end if;
  if to_regclass('card_numbers_' || lower(new.number_prefix)) is null then
    execute format('create sequence %I', 'card_numbers_' || lower(new.number_prefix));
  end if;
  return new;
end $$;

do $$
declare
  type record;
begin
  update card_types t set number_prefix = v.prefix
  from (values ('Objective', 'OBJ'), ('Platform', 'PLT'), ('Initiative', 'INI'), ('Organization', 'ORG'),
    ('BusinessCapability', 'CAP'), ('BusinessContext', 'CTX'), ('BusinessProcess', 'PRC'), ('Application', 'APP'),
    ('Interface', 'INT'), ('DataObject', 'DAT'), ('ITComponent', 'ITC'), ('TechCategory', 'TEC'),
    ('Provider', 'PRV')) as v(key, prefix)
  where t.key = v.key;
  for type in select key from card_types where number_prefix is null order by sort_order, key loop
    update card_types set number_prefix = free_number_prefix(type.key) where key = type.key;
  end loop;
  for type in select number_prefix from card_types loop
    execute format('create sequence %I', 'card_numbers_' || lower(type.number_prefix));
  end loop;
end $$;
alter table card_types alter column number_prefix set not null;
create unique index card_types_number_prefix on card_types (number_prefix);
create trigger card_types_number_prefix before insert or update of number_prefix on card_types
  for each row execute function set_number_prefix();
update topic_versions set version = version + 1 where topic = 'metamodel';

create function card_number(prefix text, n bigint) returns text language sql immutable parallel safe
  return prefix || '-' || case when n < 100000 then lpad(n::text, 5, '0') else n::text end;
-- The form in which numbers are ordered and compared.
create function card_number_key(number text) returns text language sql immutable parallel safe
  return split_part(number, '-', 1) || '-' || lpad(split_part(number, '-', 2), 10, '0');

-- Numbers of dry runs, which are rolled back: they use up none of the others.
create sequence card_numbers_of_dry_runs;

create function set_card_number() returns trigger language plpgsql as $$
declare
  prefix text;
begin
  if current_setting('estate.dry_run', true) = 'on' then
    new.number := '?-' || nextval('card_numbers_of_dry_runs');
    return new;
  end if;
  select number_prefix into prefix from card_types where key = new.type;
  -- an unknown type is refused by its foreign key
  new.number := case when prefix is null then '?' || new.id
    else card_number(prefix, nextval(('card_numbers_' || lower(prefix))::regclass)) end;
  return new;
end $$;

-- Existing cards are numbered in the order of their creation. A rewrite of the table takes a fraction of the time of an
-- update, which would write to every index for each row.
create temp table numbered on commit drop as
  select c.id, card_number(t.number_prefix, row_number() over (partition by c.type order by c.created_at, c.id)) as number
  from cards c join card_types t on t.key = c.type;
alter table numbered add primary key (id);
analyze numbered;
create function pg_temp.number_of(card uuid) returns text language plpgsql stable as $$
begin
  return (select number from numbered where id = card);
end $$;
alter table cards add column number text;
alter table cards alter column number type text using pg_temp.number_of(id);
select setval(('card_numbers_' || lower(t.number_prefix))::regclass, count(*))
from cards c join card_types t on t.key = c.type group by t.key;
alter table cards alter column number set not null;
create unique index cards_number on cards (card_number_key(number)) include (id, type, status, approval_status);
create trigger cards_number before insert on cards
  for each row when (new.number is null) execute function set_card_number();

-- The number of a card that was merged leads to the surviving card.
alter table card_redirects add column number text;
create index card_redirects_number on card_redirects (card_number_key(number)) where number is not null;
