/**
 * The tables of a store file, as CREATE statements. A change of them needs a new `formatVersion`. Files of another format are
 * rebuilt, because the API server has the original data and the store is a copy.
 *
 * Life of a row:
 *   1. A reflector's list fills an unpublished rowset.
 *   2. One update of `resource` publishes the rowset.
 *   3. Watch events change rows in place, each with an entry in `change`.
 *   4. A wholesale replace publishes another rowset. `stale_rowset` names the old one until housekeeping has removed its rows.
 */

/** Written to SQLite's application_id. Identifies a store file of this project. */
export const applicationId = 0x50_4f_52_54;

/** Written to SQLite's user_version. */
export const formatVersion = 18;

export const schemaStatements: readonly string[] = [
  // Facts about the file. `epoch`: random id of this store file. `clean`: 1 after a proper close.
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID`,

  // One row, written when a counter changed. `revision`: sequence number of the newest change. `layout_version` increases with changes
  // of kinds or slots, `catalog_version` with changes of descriptions. `next_object`: id of the next object, never reused.
  // `next_rowset`: id of the next rowset, never reused.
  `CREATE TABLE state (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     revision INTEGER NOT NULL, layout_version INTEGER NOT NULL, catalog_version INTEGER NOT NULL,
     next_object INTEGER NOT NULL, next_rowset INTEGER NOT NULL)`,
  `INSERT INTO state VALUES (1, 0, 0, 0, 1, 1)`,

  // `uid` (of the namespace kube-system) that answered under a cluster's name, and `version` of its API server; null while unknown.
  // `error`: why the last attempt to read the cluster failed; null if it succeeded.
  // `server` identifies the API server of a registered cluster; null for the clusters of the start.
  `CREATE TABLE cluster (name TEXT PRIMARY KEY, uid TEXT, version TEXT, error TEXT, server TEXT) WITHOUT ROWID`,

  // A store-wide integer for each (group, plural); `key` is the resourceKey. `promoted_table` is null until it has been made.
  // `health_rules`: hash of the rules of the health. Objects with an id above `health_from` may have the health of earlier rules; null if
  // none has.
  `CREATE TABLE kind (
     id INTEGER PRIMARY KEY, grp TEXT NOT NULL, plural TEXT NOT NULL, key TEXT NOT NULL UNIQUE, promoted_table TEXT,
     health_rules TEXT NOT NULL DEFAULT '', health_from INTEGER)`,

  // The kinds in the order in which they came, each with every Kind that its key has had. Names in GraphQL follow from this order, so a
  // kind that is gone keeps its row.
  `CREATE TABLE kind_came (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE (kind, name))`,

  // The column of each promoted path, and the reason for it (PromotionReason). Until `ready`, rows up to object id `backfilled`
  // have their value. `used`: time of the last query that needed it, in milliseconds; 0 for declared paths.
  `CREATE TABLE slot (
     kind INTEGER NOT NULL, column_name TEXT NOT NULL, path TEXT NOT NULL, type TEXT NOT NULL, reason TEXT NOT NULL, used INTEGER NOT NULL,
     ready INTEGER NOT NULL, backfilled INTEGER NOT NULL, PRIMARY KEY (kind, column_name)) WITHOUT ROWID`,

  // One listed and watched collection: a resource of a cluster, over all namespaces (`namespace` '') or in one of them. Rows are
  // small because every commit updates one. `body_shape` is the shape at the last comparison of all bodies. If it differs from
  // `shape`, the next replace compares bodies, not versions alone.
  `CREATE TABLE resource (
     id INTEGER PRIMARY KEY, cluster TEXT NOT NULL, kind INTEGER NOT NULL, namespace TEXT NOT NULL, version TEXT NOT NULL,
     rowset INTEGER, last_rv TEXT, synced INTEGER NOT NULL, objects INTEGER NOT NULL,
     shape TEXT NOT NULL, body_shape TEXT NOT NULL, status TEXT NOT NULL, UNIQUE (cluster, kind, namespace))`,
  `CREATE INDEX resource_kind ON resource (kind)`,

  // The DescribedResource of a resource as JSON, shared by its collections. Not in `resource`, because it is large and rarely written.
  `CREATE TABLE description (cluster TEXT NOT NULL, kind INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (cluster, kind))`,

  // Rowsets whose rows are not published: abandoned, replaced, or still being filled.
  `CREATE TABLE stale_rowset (rowset INTEGER PRIMARY KEY, kind INTEGER NOT NULL)`,

  // One row for each object. `namespace` is '' for cluster-scoped kinds; `created` and `deleting` are microseconds since 1970;
  // `seq` is the object's newest change, or the revision at which a replace stored it. `marks` has labels and owners as JSON,
  // `[{key: value}, [{uid, controller}]]`: labels are read from it, and equal `marks` prove that labels and owners are unchanged.
  // `health` is a HealthStatus, `health_source` a HealthSource.
  `CREATE TABLE object (
     id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, cluster TEXT NOT NULL, rowset INTEGER NOT NULL,
     namespace TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL, rv TEXT NOT NULL,
     created INTEGER, deleting INTEGER, seq INTEGER NOT NULL, marks TEXT NOT NULL,
     health TEXT NOT NULL, health_reason TEXT, health_message TEXT, health_source TEXT NOT NULL)`,
  `CREATE UNIQUE INDEX object_rowset ON object (rowset, namespace, name)`,
  `CREATE INDEX object_identity ON object (kind, cluster, namespace, name)`,
  `CREATE INDEX object_created ON object (kind, created, cluster, namespace, name)`,
  // The number of objects of each published rowset by namespace and health (object-counts.ts).
  `CREATE TABLE object_count (
     rowset INTEGER NOT NULL, namespace TEXT NOT NULL, health TEXT NOT NULL, objects INTEGER NOT NULL,
     PRIMARY KEY (rowset, namespace, health)) WITHOUT ROWID`,
  // Objects by uid. Not an index of `object`, because a first sync writes the entries later than the rows (deferred-entries.ts).
  `CREATE TABLE object_by_uid (uid TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (uid, id)) WITHOUT ROWID`,

  // `body`: JSONB without managedFields, last-applied and redacted paths. If SQLite refuses the JSON, `text` has the redacted JSON text,
  // and `body` lacks what nests too deep (deep-parts.ts). The displayed body is always coalesce(text, json(body)).
  `CREATE TABLE body (id INTEGER PRIMARY KEY, body BLOB NOT NULL, text TEXT)`,

  // Objects by label; a separate table for the same reason as `object_by_uid`.
  `CREATE TABLE object_by_label (
     kind INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL,
     PRIMARY KEY (kind, key, value, id)) WITHOUT ROWID`,

  // Owner references: `id` is the owned object, `kind` its kind. The owner's uid is kept even when the owner is not ingested.
  `CREATE TABLE edge (
     owner_uid TEXT NOT NULL, id INTEGER NOT NULL, controller INTEGER NOT NULL, kind INTEGER NOT NULL,
     PRIMARY KEY (id, owner_uid)) WITHOUT ROWID`,
  `CREATE INDEX edge_owner ON edge (owner_uid, kind, id)`,

  // Stored roll-ups (rolled-up-rows.ts). `severity` of the worst that the object owns; null while it must be computed, -1 if it is not stored.
  // `rolled_kind`: the kinds whose objects have rows; objects with an id above `filled` may lack them, null when none does.
  `CREATE TABLE rolled_kind (kind INTEGER PRIMARY KEY, filled INTEGER)`,
  `CREATE TABLE rolled_up (id INTEGER PRIMARY KEY, severity INTEGER)`,
  `CREATE INDEX rolled_up_open ON rolled_up (id) WHERE severity IS NULL`,

  // References by name (src/store/relations). A target is an object that others mention. It need not exist. `named` is its group and
  // Kind. `namespace` is the stated one, or that of the referring object. Targets keep their id until nothing mentions them.
  `CREATE TABLE named_kind (id INTEGER PRIMARY KEY, grp TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE (grp, kind))`,
  `CREATE TABLE target (
     id INTEGER PRIMARY KEY, named INTEGER NOT NULL, cluster TEXT NOT NULL, name TEXT NOT NULL, namespace TEXT NOT NULL,
     UNIQUE (named, cluster, name, namespace))`,
  // The places of a kind where references or selectors stand (placeText). Objects with an id above `backfilled` may lack the rows of
  // the place; null when no object does. `dropped`: no relation has the place any more, and its rows are being removed.
  `CREATE TABLE reference_place (
     id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, spec TEXT NOT NULL, backfilled INTEGER, dropped INTEGER NOT NULL,
     UNIQUE (kind, spec))`,
  `CREATE TABLE reference (
     id INTEGER NOT NULL, place INTEGER NOT NULL, target INTEGER NOT NULL, PRIMARY KEY (id, place, target)) WITHOUT ROWID`,
  `CREATE TABLE reference_by_target (
     target INTEGER NOT NULL, kind INTEGER NOT NULL, place INTEGER NOT NULL, id INTEGER NOT NULL,
     PRIMARY KEY (target, kind, place, id)) WITHOUT ROWID`,
  // Label selectors, one row for each (selector-rows.ts): every selected object has the label `key` with `value`, or `key` is ''. `needs`:
  // what the function `selects` checks; null if the label is all that is needed.
  `CREATE TABLE selector (
     place INTEGER NOT NULL, cluster TEXT NOT NULL, namespace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
     id INTEGER NOT NULL, needs TEXT, PRIMARY KEY (place, cluster, namespace, key, value, id)) WITHOUT ROWID`,
  `CREATE INDEX selector_of ON selector (id, place)`,

  // The searchable text of each object (search-index.ts): `text` is current while `seq` equals the object's. The full-text index
  // has trigrams by object id, and no text. `search_pending`: objects up to `watermark` that changed since.
  `CREATE TABLE search_state (one INTEGER PRIMARY KEY CHECK (one = 1), watermark INTEGER NOT NULL, paths TEXT NOT NULL)`,
  `INSERT INTO search_state VALUES (1, 0, '')`,
  `CREATE TABLE search_text (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, text TEXT NOT NULL)`,
  `CREATE TABLE search_pending (id INTEGER PRIMARY KEY)`,
  `CREATE VIRTUAL TABLE search_index USING fts5(
     text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1')`,
  `CREATE TRIGGER object_changed AFTER UPDATE OF seq ON object WHEN new.id <= (SELECT watermark FROM search_state)
     BEGIN INSERT OR IGNORE INTO search_pending VALUES (new.id); END`,
  `CREATE TRIGGER object_deleted AFTER DELETE ON object WHEN old.id <= (SELECT watermark FROM search_state)
     BEGIN INSERT OR IGNORE INTO search_pending VALUES (old.id); END`,

  // The change log. `type`: ADDED, MODIFIED, DELETED or RESET. After a RESET (object 0, name '') readers read the kind's tables
  // of this cluster again. `before`: the previous body, as JSONB or (typeof text) as the text that SQLite refused. `at`: milliseconds.
  // `managers`: the managers with the newest time in managedFields, as JSON (field-managers.ts); null where they are unknown. A RESET has
  // its reason and its collection there, for stores that follow this one (followed-log.ts).
  `CREATE TABLE change (
     seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, cluster TEXT NOT NULL, object INTEGER NOT NULL, namespace TEXT NOT NULL,
     name TEXT NOT NULL, uid TEXT, type TEXT NOT NULL, rv TEXT NOT NULL, at INTEGER NOT NULL, managers TEXT,
     before BLOB)`,
  `CREATE INDEX change_object ON change (object, seq)`,
  `CREATE INDEX change_kind ON change (kind, seq)`,
  `CREATE INDEX change_deleted ON change (uid, seq) WHERE type = 'DELETED'`,
  `CREATE INDEX change_reset ON change (kind, cluster, seq) WHERE type = 'RESET'`,
  // The extent of the log for each kind (kind-logs.ts): all entries after `floor`, which are all changes after the time `since`, in about
  // `bytes`. A kind without a row has no entry.
  `CREATE TABLE kind_log (kind INTEGER PRIMARY KEY, floor INTEGER NOT NULL, since INTEGER NOT NULL, bytes INTEGER NOT NULL)`,
];

/** A promoted table. It has an untyped column for every possible slot, so that no ALTER is needed later. */
export function createPromotedTable(name: string, columns: readonly string[]): string {
  return `CREATE TABLE ${name} (
    id INTEGER PRIMARY KEY, rowset INTEGER NOT NULL, cluster TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    ${columns.join(', ')})`;
}

/** The index of one slot. It ends with the object's identity, so that the order has no ties. */
export function createSlotIndex(table: string, column: string): string {
  return `CREATE INDEX ${table}_${column} ON ${table} (${column}, cluster, namespace, name)`;
}

/**
 * The partial index of a free column. It skips rows without a value, so it costs nothing while the column is free.
 * A slot that is added to a large table takes a column with this index, because creating an index over many rows blocks the writer.
 */
export function createSpareIndex(table: string, column: string): string {
  return `${createSlotIndex(table, column)} WHERE ${column} IS NOT NULL`;
}

/** The staging file beside the store: the objects of a relist until its commit. Its content never outlives the writer. */
export const stagingStatements: readonly string[] = [
  `CREATE TABLE staging.staged (
     id INTEGER PRIMARY KEY, replace INTEGER NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
     uid TEXT NOT NULL, rv TEXT NOT NULL, text TEXT)`,
  `CREATE UNIQUE INDEX staging.staged_key ON staged (replace, namespace, name)`,
  `CREATE INDEX staging.staged_text ON staged (replace, id) WHERE text IS NOT NULL`,
];
