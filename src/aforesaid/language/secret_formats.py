"""Floor 3: what tokens and keys of providers look like, as data for `privacy.secrets`.

A row is a literal that begins every secret of its kind, and a pattern for the rest. Most rows are those rules of the
gitleaks collection (8.30, MIT licence, Copyright (c) 2019 Zachary Rice) that have such a literal, rewritten for `re`,
with open ends where a longer token must not leave its tail behind; `docs/decisions/0009-secret-rules.md` says how that
collection was chosen and what was added. Rules of gitleaks that look for a provider's name near a value have no row:
`secret_names` finds those by the name of the value.
"""

from __future__ import annotations

from functools import cache
from typing import Final

VERSION: Final = 2
"""Grows with every change to the rules or to how they are applied: what was stored before is then scanned again."""

_ROWS = r"""
1password-key         A3-            [A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}
1password-token       ops_eyJ        [\w+/=-]{100,}
adafruit-key          aio_           [A-Za-z0-9]{28}
adobe-secret          p8e-           [A-Za-z0-9_-]{32}
age-key               AGE-SECRET-KEY-1 [A-Z0-9]{58}
airtable-token        pat            [A-Za-z0-9]{14}\.[a-f0-9]{64}
alibaba-key           LTAI           [A-Za-z0-9]{12,26}
amazon-mws-token      amzn.mws.      [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
amazon-oauth-secret   amzn1.oa2-cs.v1. [a-f0-9]{64}
anthropic-key         sk-ant-        [a-z0-9]{2,10}-[\w-]{20,}
artifactory-key       AKCp           [A-Za-z0-9]{60,}
artifactory-token     cmVmd          [A-Za-z0-9]{59}
atlassian-token       ATATT3         [\w=-]{60,}
atlassian-token       ATCTT3         [\w=-]{60,}
aws-key               AKIA           [A-Z0-9]{16}
aws-key               ASIA           [A-Z0-9]{16}
aws-key               ABIA           [A-Z0-9]{16}
aws-key               ACCA           [A-Z0-9]{16}
aws-key               A3T            [A-Z0-9]{17}
aws-bedrock-key       ABSK           [A-Za-z0-9+/]{100,}={0,2}
aws-bedrock-key       bedrock-api-key- [A-Za-z0-9+/=]{20,}
bitbucket-password    ATBB           [A-Za-z0-9]{28,}
buildkite-token       bkua_          [a-z0-9]{40}
cerebras-key          csk-           [a-z0-9]{40,}
circleci-token        CCIPAT_        \w{20,}
clickhouse-key        4b1d           [A-Za-z0-9]{38}
clojars-token         CLOJARS_       [A-Za-z0-9]{60}
cloudflare-ca-key     v1.0-          [a-f0-9]{24}-[a-f0-9]{146}
contentful-token      CFPAT-         [\w-]{43}
crates-token          cio            [A-Za-z0-9]{32}
databricks-token      dapi           [a-f0-9]{32}(?:-[0-9])?
defined-token         dnkey-         [a-z0-9=_-]{26}-[a-z0-9=_-]{52}
digitalocean-token    doo_v1_        [a-f0-9]{64}
digitalocean-token    dop_v1_        [a-f0-9]{64}
digitalocean-token    dor_v1_        [a-f0-9]{64}
docker-token          dckr_pat_      [\w-]{20,}
docker-token          dckr_oat_      [\w-]{20,}
doppler-token         dp.            (?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}
dropbox-token         sl.            (?:u\.)?[\w-]{100,}
duffel-token          duffel_        (?:test|live)_[\w=-]{43}
dynatrace-token       dt0            [a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}
e2b-key               e2b_           [a-f0-9]{40}
easypost-key          EZAK           [A-Za-z0-9]{54}
easypost-key          EZTK           [A-Za-z0-9]{54}
facebook-token        EAA            [B-Z][A-Za-z0-9]{80,}
figma-token           figd_          [\w-]{38,}
firecrawl-key         fc-            [a-f0-9]{32}
flutterwave-key       FLWSECK        (?:_TEST)?-[A-Za-z0-9]{12,32}(?:-X)?
fly-token             fo1_           [\w-]{43}
fly-token             fm1            [ar]_[\w+/=,-]{100,}
fly-token             fm2_           [\w+/=,-]{100,}
frameio-token         fio-u-         [\w=-]{64}
gitlab-token          gl             (?:pat|dt|ft|imt|agent|oas|ptt|rt|rtr|soat|cbt|ffct)-[\w-]{20,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7})?
gitlab-token          GR1348941      [\w-]{20,}
github-token          ghp_           [A-Za-z0-9]{36,}
github-token          gho_           [A-Za-z0-9]{36,}
github-token          ghu_           [A-Za-z0-9]{36,}
github-token          ghs_           [A-Za-z0-9]{36,}
github-token          ghr_           [A-Za-z0-9]{36,}
github-token          github_pat_    \w{40,}
google-api-key        AIza           [\w-]{35,}
google-oauth-secret   GOCSPX-        [\w-]{24,}
google-oauth-token    ya29.          [\w.-]{20,}
google-refresh-token  1//0           [\w-]{30,}
grafana-token         glc_           [A-Za-z0-9+/]{32,}={0,3}
grafana-token         glsa_          [A-Za-z0-9]{32}_[A-Fa-f0-9]{8}
groq-key              gsk_           [A-Za-z0-9]{40,}
harness-key           pat.           [\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
harness-key           sat.           [\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
heroku-key            HRKU-          [\w-]{36,}
huggingface-token     hf_            [A-Za-z0-9]{30,}
huggingface-token     api_org_       [A-Za-z0-9]{34}
infracost-token       ico-           [A-Za-z0-9]{32}
jina-key              jina_          [A-Za-z0-9_-]{40,}
jwt                   eyJ            [\w-]{10,}\.(?:[\w-]{10,}\.[\w-]*(?:\.[\w-]+\.[\w-]+)?|\.[\w-]+\.[\w-]+\.[\w-]+)
langsmith-key         lsv2_          (?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}
linear-key            lin_api_       [A-Za-z0-9]{40}
linear-key            lin_oauth_     [A-Za-z0-9]{32,}
mailgun-key           key-           [a-f0-9]{32}
mapbox-token          pk.eyJ         [\w-]{20,}\.[\w-]{20,}
mapbox-token          sk.eyJ         [\w-]{20,}\.[\w-]{20,}
mapbox-token          tk.eyJ         [\w-]{20,}\.[\w-]{20,}
netlify-token         nfp_           [A-Za-z0-9]{36}
new-relic-key         NRAK-          [A-Z0-9]{27}
new-relic-key         NRII-          [\w-]{32}
new-relic-key         NRJS-          [a-f0-9]{19}
notion-token          ntn_           [A-Za-z0-9]{40,}
notion-token          secret_        [A-Za-z0-9]{43}
npm-token             npm_           [A-Za-z0-9]{36}
nuget-key             oy2            [a-z0-9]{43}
nvidia-key            nvapi-         [\w-]{50,}
octopus-key           API-           [A-Z0-9]{26,}
openai-key            sk-            (?:proj|svcacct|admin|None)-[\w-]{20,}
openai-key            sk-            (?=[A-Za-z]*[0-9])(?:[a-z0-9]{2,5}-){0,2}[A-Za-z0-9]{32,}
langfuse-key          sk-lf-         [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
openshift-token       sha256~        [\w-]{43}
ory-token             ory_           (?:st|pat|at|ac)_[\w.-]{20,}
paseto                v              [1-4]\.(?:local|public)\.[\w-]{40,}(?:\.[\w-]+)?
perplexity-key        pplx-          [A-Za-z0-9]{40,}
pinecone-key          pcsk_          \w{40,}
plaid-token           access-        (?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
planetscale-token     pscale_        (?:tkn|oauth|pw)_[\w=.-]{32,}
posthog-key           phx_           [A-Za-z0-9]{40,}
postman-key           PMAK-          [a-f0-9]{24}-[a-f0-9]{34}
prefect-token         pnu_           [A-Za-z0-9]{36}
pulumi-token          pul-           [a-f0-9]{40}
pypi-token            pypi-          (?=[\w-]*[0-9])[\w-]{50,}
readme-key            rdme_          [a-z0-9]{70}
render-key            rnd_           [A-Za-z0-9]{32}
replicate-token       r8_            [A-Za-z0-9]{37}
resend-key            re_            [A-Za-z0-9]{8}_[A-Za-z0-9]{24}
rubygems-key          rubygems_      [a-f0-9]{48}
scalingo-token        tk-us-         [\w-]{48}
sendgrid-key          SG.            [\w-]{16,32}\.[\w-]{30,}
sendinblue-key        xkeysib-       [a-f0-9]{64}-[A-Za-z0-9]{16}
sendinblue-key        xsmtpsib-      [a-f0-9]{64}-[A-Za-z0-9]{16}
sentry-token          sntrys_        [\w+/=-]{40,}
sentry-token          sntryu_        [a-f0-9]{64}
settlemint-token      sm_            [aps]at_[A-Za-z0-9]{16}
shippo-token          shippo_        (?:live|test)_[a-fA-F0-9]{40}
shopify-token         shpat_         [a-fA-F0-9]{32}
shopify-token         shpca_         [a-fA-F0-9]{32}
shopify-token         shppa_         [a-fA-F0-9]{32}
shopify-token         shpss_         [a-fA-F0-9]{32}
shopify-token         shptka_        [a-fA-F0-9]{32}
slack-token           xapp-          [0-9]-[A-Za-z0-9]+-[0-9]+-[A-Za-z0-9]+
slack-token           xox            (?:[abeoprs]|e\.xox[bp])-(?=[\w-]*[0-9])[\w-]{10,}
sonar-token           sq             [apu]_[a-f0-9]{40}
sourcegraph-token     sgp_           (?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}
square-token          EAAA           [\w-]{60}
square-token          sq0            (?:atp|csp|idp)-[\w-]{22,}
stripe-key            sk_            (?:test|live|prod)_[A-Za-z0-9]{10,}
stripe-key            rk_            (?:test|live|prod)_[A-Za-z0-9]{10,}
stripe-webhook-secret whsec_         [A-Za-z0-9+/]{24,}={0,2}
elevenlabs-key        sk_            [a-f0-9]{48}
supabase-token        sbp_           (?:v0_)?[a-f0-9]{40}
supabase-token        sb_secret_     [\w-]{20,}
tailscale-key         tskey-         [a-z]{3,12}-[\w-]{20,}
tavily-key            tvly-          (?:dev-|prod-)?[A-Za-z0-9]{28,}
together-key          tgp_v1_        [\w-]{40,}
twilio-key            SK             [0-9a-f]{32}
typeform-token        tfp_           [\w.=-]{40,}
vault-token           hvs.           [\w-]{24,}
vault-token           hvb.           [\w-]{24,}
vault-token           hvr.           [\w-]{24,}
vault-token           s.             (?=[A-Za-z]*[0-9])(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{24}
xai-key               xai-           [A-Za-z0-9]{60,}
yandex-key            AQVN           [\w-]{35,}
yandex-token          t1.            [\w-]+={0,2}\.[\w-]{86}={0,2}
"""


@cache
def formats() -> tuple[tuple[str, str, str], ...]:
    """Kind, literal that begins the secret, pattern of the rest. The literal stands where no letter or digit precedes.

    Taken apart when it is first asked for: whoever only compares versions needs none of it.
    """
    return tuple((kind, literal, tail) for kind, literal, tail in (row.split() for row in _ROWS.split("\n") if row))


SHAPES: Final = (
    # kind, what stands in it, pattern
    ("telegram-token", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[\w-]{32,35}(?![\w-])"),
    ("mailchimp-key", "-us", r"(?<![0-9a-zA-Z])[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])"),
    ("maxmind-key", "_mmk", r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])"),
    ("terraform-token", ".atlasv1.", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    ("firebase-key", ":APA91b", r"(?<![\w-])AAAA[\w-]{7}:APA91b[\w-]{100,}"),
    ("discord-token", ".", r"(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    ("azure-client-secret", "Q~", r"(?<![\w~.-])[A-Za-z0-9_~.]{3}[0-9]Q~[\w~.-]{31,34}(?![\w~-])"),
)
"""Secrets that begin with no literal; each holds a stretch of at least 20 letters, digits, `-` and `_`, or nearly so."""

WEBHOOKS: Final = (
    ("slack-webhook", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([\w/+-]{20,200})"),
    ("discord-webhook", r"(?:\w{1,10}\.)?discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15,22}/([\w-]{40,100})"),
    ("teams-webhook", r"[\w-]{1,80}\.webhook\.office\.com/webhookb2/([\w@/-]{60,300})"),
    ("zapier-webhook", r"hooks\.zapier\.com/hooks/catch/([\w/]{8,60})"),
    ("google-chat-webhook", r"chat\.googleapis\.com/v1/spaces/[\w-]{1,40}/messages\?key=([\w&=%.-]{40,300})"),
)
"""Addresses that are secrets themselves, from behind `://`; the group is what is replaced."""
