CREATE TABLE audit (
  n INTEGER NOT NULL,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  detail TEXT DEFAULT '' NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL,
  CONSTRAINT pk_audit PRIMARY KEY (n)
);
CREATE TABLE blob (
  sha TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_blob PRIMARY KEY (sha)
);
CREATE TABLE campaign (
  id TEXT NOT NULL,
  slug TEXT NOT NULL,
  title TEXT NOT NULL,
  year INTEGER,
  series TEXT DEFAULT '' NOT NULL,
  state TEXT DEFAULT 'draft' NOT NULL,
  call TEXT DEFAULT '' NOT NULL,
  licence TEXT DEFAULT '' NOT NULL,
  licence_version INTEGER DEFAULT '1' NOT NULL,
  guidelines TEXT DEFAULT '' NOT NULL,
  opens BIGINT,
  closes BIGINT,
  release BIGINT,
  runs_per_team INTEGER DEFAULT '5' NOT NULL,
  configurations TEXT DEFAULT '' NOT NULL,
  measures TEXT DEFAULT '' NOT NULL,
  label_measures TEXT DEFAULT '' NOT NULL,
  primary_measure TEXT DEFAULT '' NOT NULL,
  seed INTEGER DEFAULT '0' NOT NULL,
  pooled INTEGER DEFAULT '0' NOT NULL,
  teams_assess INTEGER DEFAULT '0' NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_campaign PRIMARY KEY (id),
  CONSTRAINT uq_campaign_slug UNIQUE (slug)
);
CREATE TABLE idempotency (
  key TEXT NOT NULL,
  request TEXT NOT NULL,
  status INTEGER DEFAULT '0' NOT NULL,
  body TEXT DEFAULT '' NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_idempotency PRIMARY KEY (key)
);
CREATE TABLE login_failure (
  name TEXT NOT NULL,
  failures INTEGER DEFAULT '0' NOT NULL,
  until BIGINT NOT NULL,
  CONSTRAINT pk_login_failure PRIMARY KEY (name)
);
CREATE TABLE person (
  id TEXT NOT NULL,
  login TEXT NOT NULL,
  name TEXT NOT NULL,
  contact TEXT DEFAULT '' NOT NULL,
  password TEXT NOT NULL,
  disabled INTEGER DEFAULT '0' NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_person PRIMARY KEY (id),
  CONSTRAINT uq_person_login UNIQUE (login)
);
CREATE TABLE setting (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  CONSTRAINT pk_setting PRIMARY KEY (name)
);
CREATE TABLE agreement_signed (
  id TEXT NOT NULL,
  campaign TEXT NOT NULL,
  person TEXT NOT NULL,
  version INTEGER DEFAULT '1' NOT NULL,
  sha TEXT NOT NULL,
  name TEXT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_agreement_signed PRIMARY KEY (id),
  CONSTRAINT uq_agreement_signed_campaign_person_version UNIQUE (campaign, person, version),
  CONSTRAINT fk_agreement_signed_campaign FOREIGN KEY(campaign) REFERENCES campaign (id),
  CONSTRAINT fk_agreement_signed_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE INDEX ix_agreement_signed_campaign ON agreement_signed (campaign);
CREATE INDEX ix_agreement_signed_person ON agreement_signed (person);
CREATE TABLE assessor (
  id TEXT NOT NULL,
  campaign TEXT NOT NULL,
  person TEXT,
  pseudonym TEXT NOT NULL,
  kind TEXT DEFAULT 'expert' NOT NULL,
  token_hash TEXT,
  state TEXT DEFAULT 'active' NOT NULL,
  facts TEXT DEFAULT '' NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_assessor PRIMARY KEY (id),
  CONSTRAINT uq_assessor_campaign_pseudonym UNIQUE (campaign, pseudonym),
  CONSTRAINT uq_assessor_token_hash UNIQUE (token_hash),
  CONSTRAINT fk_assessor_campaign FOREIGN KEY(campaign) REFERENCES campaign (id),
  CONSTRAINT fk_assessor_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE INDEX ix_assessor_campaign ON assessor (campaign);
CREATE INDEX ix_assessor_person ON assessor (person);
CREATE TABLE export (
  id TEXT NOT NULL,
  campaign TEXT,
  kind TEXT NOT NULL,
  place TEXT NOT NULL,
  sha TEXT NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_export PRIMARY KEY (id),
  CONSTRAINT fk_export_campaign FOREIGN KEY(campaign) REFERENCES campaign (id)
);
CREATE INDEX ix_export_campaign ON export (campaign);
CREATE TABLE guideline (
  id TEXT NOT NULL,
  campaign TEXT NOT NULL,
  version INTEGER DEFAULT '1' NOT NULL,
  text TEXT NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_guideline PRIMARY KEY (id),
  CONSTRAINT uq_guideline_campaign_version UNIQUE (campaign, version),
  CONSTRAINT fk_guideline_campaign FOREIGN KEY(campaign) REFERENCES campaign (id)
);
CREATE INDEX ix_guideline_campaign ON guideline (campaign);
CREATE TABLE role (
  person TEXT NOT NULL,
  campaign TEXT,
  role TEXT NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT uq_role_person_campaign_role UNIQUE (person, campaign, role),
  CONSTRAINT fk_role_person FOREIGN KEY(person) REFERENCES person (id),
  CONSTRAINT fk_role_campaign FOREIGN KEY(campaign) REFERENCES campaign (id)
);
CREATE INDEX ix_role_campaign ON role (campaign);
CREATE INDEX ix_role_person ON role (person);
CREATE TABLE session (
  hash TEXT NOT NULL,
  person TEXT NOT NULL,
  created BIGINT NOT NULL,
  expires BIGINT NOT NULL,
  confirmed BIGINT,
  CONSTRAINT pk_session PRIMARY KEY (hash),
  CONSTRAINT fk_session_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE INDEX ix_session_person ON session (person);
CREATE TABLE task (
  id TEXT NOT NULL,
  campaign TEXT NOT NULL,
  slug TEXT NOT NULL,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  split TEXT DEFAULT '' NOT NULL,
  run_form TEXT DEFAULT '' NOT NULL,
  threshold_form TEXT DEFAULT '' NOT NULL,
  baseline TEXT DEFAULT '' NOT NULL,
  CONSTRAINT pk_task PRIMARY KEY (id),
  CONSTRAINT uq_task_campaign_slug UNIQUE (campaign, slug),
  CONSTRAINT fk_task_campaign FOREIGN KEY(campaign) REFERENCES campaign (id)
);
CREATE INDEX ix_task_campaign ON task (campaign);
CREATE TABLE team (
  id TEXT NOT NULL,
  campaign TEXT NOT NULL,
  acronym TEXT NOT NULL,
  name TEXT NOT NULL,
  country TEXT DEFAULT '' NOT NULL,
  reference TEXT DEFAULT '' NOT NULL,
  invitation TEXT NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_team PRIMARY KEY (id),
  CONSTRAINT uq_team_campaign_acronym UNIQUE (campaign, acronym),
  CONSTRAINT fk_team_campaign FOREIGN KEY(campaign) REFERENCES campaign (id),
  CONSTRAINT uq_team_invitation UNIQUE (invitation)
);
CREATE INDEX ix_team_campaign ON team (campaign);
CREATE TABLE api_token (
  id TEXT NOT NULL,
  hash TEXT NOT NULL,
  person TEXT NOT NULL,
  team TEXT,
  scope TEXT DEFAULT 'submit' NOT NULL,
  label TEXT DEFAULT '' NOT NULL,
  created BIGINT NOT NULL,
  expires BIGINT,
  revoked BIGINT,
  CONSTRAINT pk_api_token PRIMARY KEY (id),
  CONSTRAINT uq_api_token_hash UNIQUE (hash),
  CONSTRAINT fk_api_token_person FOREIGN KEY(person) REFERENCES person (id),
  CONSTRAINT fk_api_token_team FOREIGN KEY(team) REFERENCES team (id)
);
CREATE INDEX ix_api_token_person ON api_token (person);
CREATE INDEX ix_api_token_team ON api_token (team);
CREATE TABLE batch (
  id TEXT NOT NULL,
  campaign TEXT NOT NULL,
  task TEXT,
  slug TEXT NOT NULL,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT DEFAULT 'draft' NOT NULL,
  guideline TEXT,
  form TEXT DEFAULT '' NOT NULL,
  overlap INTEGER DEFAULT '1' NOT NULL,
  gold_share FLOAT(53),
  pay FLOAT(53),
  order_seed INTEGER DEFAULT '0' NOT NULL,
  gate TEXT DEFAULT '' NOT NULL,
  skipped TEXT DEFAULT '' NOT NULL,
  link_hash TEXT,
  created BIGINT NOT NULL,
  changed BIGINT,
  CONSTRAINT pk_batch PRIMARY KEY (id),
  CONSTRAINT uq_batch_campaign_slug UNIQUE (campaign, slug),
  CONSTRAINT fk_batch_campaign FOREIGN KEY(campaign) REFERENCES campaign (id),
  CONSTRAINT fk_batch_task FOREIGN KEY(task) REFERENCES task (id),
  CONSTRAINT fk_batch_guideline FOREIGN KEY(guideline) REFERENCES guideline (id)
);
CREATE INDEX ix_batch_campaign ON batch (campaign);
CREATE INDEX ix_batch_guideline ON batch (guideline);
CREATE INDEX ix_batch_task ON batch (task);
CREATE TABLE membership (
  team TEXT NOT NULL,
  person TEXT NOT NULL,
  rank TEXT DEFAULT 'member' NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT uq_membership_team_person UNIQUE (team, person),
  CONSTRAINT fk_membership_team FOREIGN KEY(team) REFERENCES team (id),
  CONSTRAINT fk_membership_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE INDEX ix_membership_person ON membership (person);
CREATE INDEX ix_membership_team ON membership (team);
CREATE TABLE public_set (
  task TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  position INTEGER DEFAULT '0' NOT NULL,
  text TEXT DEFAULT '' NOT NULL,
  media TEXT DEFAULT '' NOT NULL,
  meta TEXT DEFAULT '' NOT NULL,
  CONSTRAINT uq_public_set_task_kind_name UNIQUE (task, kind, name),
  CONSTRAINT fk_public_set_task FOREIGN KEY(task) REFERENCES task (id)
);
CREATE INDEX ix_public_set_task ON public_set (task);
CREATE TABLE rejected_upload (
  id TEXT NOT NULL,
  task TEXT NOT NULL,
  team TEXT,
  tag TEXT DEFAULT '' NOT NULL,
  problems TEXT DEFAULT '' NOT NULL,
  count INTEGER DEFAULT '0' NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_rejected_upload PRIMARY KEY (id),
  CONSTRAINT fk_rejected_upload_task FOREIGN KEY(task) REFERENCES task (id),
  CONSTRAINT fk_rejected_upload_team FOREIGN KEY(team) REFERENCES team (id)
);
CREATE INDEX ix_rejected_upload_task ON rejected_upload (task);
CREATE INDEX ix_rejected_upload_team ON rejected_upload (team);
CREATE TABLE run (
  id TEXT NOT NULL,
  task TEXT NOT NULL,
  team TEXT NOT NULL,
  tag TEXT NOT NULL,
  configuration TEXT DEFAULT '' NOT NULL,
  description TEXT DEFAULT '' NOT NULL,
  features TEXT DEFAULT '' NOT NULL,
  classifier TEXT DEFAULT '' NOT NULL,
  precedence INTEGER DEFAULT '0' NOT NULL,
  threshold TEXT DEFAULT '' NOT NULL,
  blob TEXT NOT NULL,
  form TEXT NOT NULL,
  lines INTEGER DEFAULT '0' NOT NULL,
  units INTEGER DEFAULT '0' NOT NULL,
  missing TEXT DEFAULT '' NOT NULL,
  state TEXT DEFAULT 'accepted' NOT NULL,
  reason TEXT DEFAULT '' NOT NULL,
  baseline INTEGER DEFAULT '0' NOT NULL,
  via TEXT DEFAULT 'page' NOT NULL,
  person TEXT,
  created BIGINT NOT NULL,
  CONSTRAINT pk_run PRIMARY KEY (id),
  CONSTRAINT uq_run_task_team_tag UNIQUE (task, team, tag),
  CONSTRAINT fk_run_task FOREIGN KEY(task) REFERENCES task (id),
  CONSTRAINT fk_run_team FOREIGN KEY(team) REFERENCES team (id),
  CONSTRAINT fk_run_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE INDEX ix_run_person ON run (person);
CREATE INDEX ix_run_task ON run (task);
CREATE INDEX ix_run_team ON run (team);
CREATE TABLE truth_version (
  id TEXT NOT NULL,
  task TEXT NOT NULL,
  n INTEGER DEFAULT '1' NOT NULL,
  sha TEXT NOT NULL,
  file TEXT NOT NULL,
  source TEXT DEFAULT '' NOT NULL,
  note TEXT DEFAULT '' NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_truth_version PRIMARY KEY (id),
  CONSTRAINT uq_truth_version_task_n UNIQUE (task, n),
  CONSTRAINT fk_truth_version_task FOREIGN KEY(task) REFERENCES task (id)
);
CREATE INDEX ix_truth_version_task ON truth_version (task);
CREATE TABLE adjudication (
  id TEXT NOT NULL,
  batch TEXT NOT NULL,
  topic TEXT DEFAULT '' NOT NULL,
  item TEXT DEFAULT '' NOT NULL,
  concept TEXT DEFAULT '' NOT NULL,
  value TEXT NOT NULL,
  reason TEXT DEFAULT '' NOT NULL,
  person TEXT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_adjudication PRIMARY KEY (id),
  CONSTRAINT uq_adjudication_batch_topic_item_concept UNIQUE (batch, topic, item, concept),
  CONSTRAINT fk_adjudication_batch FOREIGN KEY(batch) REFERENCES batch (id),
  CONSTRAINT fk_adjudication_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE INDEX ix_adjudication_batch ON adjudication (batch);
CREATE INDEX ix_adjudication_person ON adjudication (person);
CREATE TABLE hit (
  id TEXT NOT NULL,
  batch TEXT NOT NULL,
  position INTEGER DEFAULT '0' NOT NULL,
  topic TEXT DEFAULT '' NOT NULL,
  item TEXT DEFAULT '' NOT NULL,
  content TEXT DEFAULT '' NOT NULL,
  gold TEXT DEFAULT '' NOT NULL,
  CONSTRAINT pk_hit PRIMARY KEY (id),
  CONSTRAINT fk_hit_batch FOREIGN KEY(batch) REFERENCES batch (id)
);
CREATE INDEX ix_hit_batch ON hit (batch);
CREATE INDEX ix_hit_batch_position ON hit (batch, position);
CREATE TABLE job (
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  campaign TEXT,
  run TEXT,
  input TEXT DEFAULT '' NOT NULL,
  state TEXT DEFAULT 'queued' NOT NULL,
  worker TEXT,
  attempt INTEGER DEFAULT '0' NOT NULL,
  lease BIGINT,
  error TEXT DEFAULT '' NOT NULL,
  progress FLOAT DEFAULT '0' NOT NULL,
  created BIGINT NOT NULL,
  finished BIGINT,
  CONSTRAINT pk_job PRIMARY KEY (id),
  CONSTRAINT uq_job_key UNIQUE (key),
  CONSTRAINT fk_job_campaign FOREIGN KEY(campaign) REFERENCES campaign (id),
  CONSTRAINT fk_job_run FOREIGN KEY(run) REFERENCES run (id)
);
CREATE INDEX ix_job_campaign ON job (campaign);
CREATE INDEX ix_job_run ON job (run);
CREATE INDEX ix_job_state ON job (state);
CREATE TABLE pool_item (
  batch TEXT NOT NULL,
  topic TEXT NOT NULL,
  item TEXT NOT NULL,
  best_rank INTEGER,
  runs INTEGER,
  weight FLOAT(53),
  CONSTRAINT uq_pool_item_batch_topic_item UNIQUE (batch, topic, item),
  CONSTRAINT fk_pool_item_batch FOREIGN KEY(batch) REFERENCES batch (id)
);
CREATE INDEX ix_pool_item_batch ON pool_item (batch);
CREATE TABLE run_score (
  key TEXT NOT NULL,
  run TEXT NOT NULL,
  truth_version TEXT NOT NULL,
  created BIGINT NOT NULL,
  CONSTRAINT pk_run_score PRIMARY KEY (key),
  CONSTRAINT fk_run_score_run FOREIGN KEY(run) REFERENCES run (id),
  CONSTRAINT fk_run_score_truth_version FOREIGN KEY(truth_version) REFERENCES truth_version (id)
);
CREATE INDEX ix_run_score_run ON run_score (run);
CREATE INDEX ix_run_score_truth_version ON run_score (truth_version);
CREATE TABLE score_set (
  id TEXT NOT NULL,
  task TEXT NOT NULL,
  n INTEGER DEFAULT '1' NOT NULL,
  truth_version TEXT NOT NULL,
  key TEXT NOT NULL,
  measures TEXT DEFAULT '' NOT NULL,
  version TEXT NOT NULL,
  state TEXT DEFAULT 'building' NOT NULL,
  note TEXT DEFAULT '' NOT NULL,
  created BIGINT NOT NULL,
  switched BIGINT,
  CONSTRAINT pk_score_set PRIMARY KEY (id),
  CONSTRAINT uq_score_set_task_n UNIQUE (task, n),
  CONSTRAINT uq_score_set_task_key UNIQUE (task, key),
  CONSTRAINT fk_score_set_task FOREIGN KEY(task) REFERENCES task (id),
  CONSTRAINT fk_score_set_truth_version FOREIGN KEY(truth_version) REFERENCES truth_version (id)
);
CREATE INDEX ix_score_set_task ON score_set (task);
CREATE INDEX ix_score_set_truth_version ON score_set (truth_version);
CREATE TABLE assignment (
  id TEXT NOT NULL,
  hit TEXT NOT NULL,
  assessor TEXT NOT NULL,
  state TEXT DEFAULT 'offered' NOT NULL,
  subject TEXT NOT NULL,
  offered BIGINT NOT NULL,
  opened BIGINT,
  submitted BIGINT,
  expires BIGINT,
  active_ms BIGINT DEFAULT '0' NOT NULL,
  guideline TEXT,
  reason TEXT DEFAULT '' NOT NULL,
  reissued_as TEXT,
  CONSTRAINT pk_assignment PRIMARY KEY (id),
  CONSTRAINT uq_assignment_assessor_subject UNIQUE (assessor, subject),
  CONSTRAINT uq_assignment_hit_assessor UNIQUE (hit, assessor),
  CONSTRAINT fk_assignment_hit FOREIGN KEY(hit) REFERENCES hit (id),
  CONSTRAINT fk_assignment_assessor FOREIGN KEY(assessor) REFERENCES assessor (id),
  CONSTRAINT fk_assignment_guideline FOREIGN KEY(guideline) REFERENCES guideline (id)
);
CREATE INDEX ix_assignment_assessor ON assignment (assessor);
CREATE INDEX ix_assignment_guideline ON assignment (guideline);
CREATE INDEX ix_assignment_hit ON assignment (hit);
CREATE TABLE score (
  score_set TEXT NOT NULL,
  run TEXT NOT NULL,
  measure TEXT NOT NULL,
  mean FLOAT(53),
  low FLOAT(53),
  high FLOAT(53),
  place INTEGER,
  rank INTEGER,
  rank_first INTEGER,
  rank_last INTEGER,
  group_letters TEXT DEFAULT '' NOT NULL,
  n INTEGER,
  left_out INTEGER,
  CONSTRAINT uq_score_score_set_run_measure UNIQUE (score_set, run, measure),
  CONSTRAINT fk_score_score_set FOREIGN KEY(score_set) REFERENCES score_set (id),
  CONSTRAINT fk_score_run FOREIGN KEY(run) REFERENCES run (id)
);
CREATE INDEX ix_score_run ON score (run);
CREATE INDEX ix_score_score_set ON score (score_set);
CREATE TABLE comment (
  id TEXT NOT NULL,
  assignment TEXT,
  batch TEXT,
  assessor TEXT,
  text TEXT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_comment PRIMARY KEY (id),
  CONSTRAINT fk_comment_assignment FOREIGN KEY(assignment) REFERENCES assignment (id),
  CONSTRAINT fk_comment_batch FOREIGN KEY(batch) REFERENCES batch (id),
  CONSTRAINT fk_comment_assessor FOREIGN KEY(assessor) REFERENCES assessor (id)
);
CREATE INDEX ix_comment_assessor ON comment (assessor);
CREATE INDEX ix_comment_assignment ON comment (assignment);
CREATE INDEX ix_comment_batch ON comment (batch);
CREATE TABLE judgement (
  id TEXT NOT NULL,
  assignment TEXT NOT NULL,
  assessor TEXT NOT NULL,
  client_key TEXT NOT NULL,
  revision INTEGER DEFAULT '1' NOT NULL,
  topic TEXT DEFAULT '' NOT NULL,
  item TEXT DEFAULT '' NOT NULL,
  concept TEXT DEFAULT '' NOT NULL,
  value TEXT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_judgement PRIMARY KEY (id),
  CONSTRAINT fk_judgement_assignment FOREIGN KEY(assignment) REFERENCES assignment (id),
  CONSTRAINT fk_judgement_assessor FOREIGN KEY(assessor) REFERENCES assessor (id),
  CONSTRAINT uq_judgement_client_key UNIQUE (client_key)
);
CREATE INDEX ix_judgement_assessor ON judgement (assessor);
CREATE INDEX ix_judgement_assignment ON judgement (assignment);
CREATE INDEX ix_judgement_assignment_revision ON judgement (assignment, revision);
