"""Floor 3: names of technologies; folded, words that are ordinary English or Italian as well are left out."""

from __future__ import annotations

from typing import Final

SPELLED: Final = ("C++", "C#", "F#", ".NET", "ASP.NET", "Node.js", "Vue.js", "Next.js", "Nuxt.js", "Three.js", "D3.js",
                  "Express.js", "Socket.IO", "Objective-C", "T-SQL", "PL/SQL", "CI/CD", "TCP/IP", "Pub/Sub",
                  "UTF-8", "UTF-16", "SHA-256", "SHA-1", "OAuth2", "HTTP/2", "HTTP/3", "x86-64", "S3", "EC2")  # fmt: skip
"""Names that ordinary word borders would tear apart, as they are written."""
SPELLED_FOLDED: Final = frozenset(map(str.lower, SPELLED))
SPELLED_SIGNS: Final = ("c++", "#", ".n", ".js", ".io", "-c", "-sql", "/sql", "/cd", "/ip", "/sub", "-8", "-1", "-2", "h2",
                        "p/", "-64", "s3", "c2")  # fmt: skip
"""Each of these names holds one of these."""

NAMES: Final = frozenset(
    """
python javascript typescript java kotlin scala groovy clojure ruby rust golang php perl haskell erlang elixir ocaml lua
julia fortran cobol matlab bash zsh powershell sql nosql plsql html css sass scss xml yaml toml json jsonl csv protobuf
graphql markdown latex wasm webassembly asm llvm gcc clang cmake meson bazel gradle maven npm yarn pnpm bun deno nodejs pip
pipx poetry conda uv cargo rustc gem bundler composer nuget homebrew apt
postgresql postgres mysql mariadb sqlite oracle mssql mongodb redis memcached cassandra dynamodb couchdb neo4j elasticsearch
opensearch solr clickhouse duckdb snowflake bigquery redshift cockroachdb influxdb prometheus grafana loki kibana fts5
kafka rabbitmq activemq nats zeromq celery sidekiq pulsar kinesis sqs
docker podman kubernetes k8s helm istio envoy nginx apache haproxy traefik caddy consul vault terraform ansible puppet
packer vagrant jenkins github gitlab bitbucket circleci argocd dockerfile compose openshift lambda cloudfront route53
aws azure gcp heroku vercel netlify cloudflare digitalocean fastly firebase supabase auth0 okta keycloak stripe twilio
sendgrid paypal sentry datadog newrelic splunk pagerduty slack jira confluence figma notion
react angular vue svelte nextjs nuxt remix astro gatsby ember jquery redux zustand webpack vite rollup esbuild parcel babel
eslint prettier jest vitest mocha jasmine cypress playwright puppeteer selenium storybook tailwind bootstrap mui electron
tauri capacitor cordova flutter expo android ios macos linux windows ubuntu debian alpine fedora centos unix posix freebsd
django flask fastapi pydantic sqlalchemy alembic numpy pandas scipy matplotlib pytorch tensorflow keras sklearn
scikit-learn huggingface transformers langchain llamaindex openai anthropic claude codex gemini mistral ollama chatgpt gpt
llm rag mcp pytest unittest hypothesis mypy ruff pylint flake8 black isort asyncio aiohttp httpx uvicorn gunicorn starlette
msgspec apsw jupyter rails sinatra rspec laravel symfony wordpress drupal spring hibernate quarkus micronaut junit mockito
tomcat jetty netty akka express nestjs fastify koa hapi prisma typeorm sequelize knex mongoose axios lodash rxjs zod pino
grpc soap websocket websockets webrtc mqtt amqp http https http2 tcp udp dns dhcp tls ssl ssh sftp ftp smtp imap ldap
saml oauth oidc jwt cors csrf xss hmac rsa aes ecdsa sha256 sha1 md5 bcrypt argon2 utf8 ascii unicode base64 uuid regex gzip
brotli zstd zlib ipv4 ipv6 vpn cdn api sdk cli gui ide orm cuda opengl vulkan webgl
git svn mercurial vim neovim emacs vscode intellij pycharm xcode tmux systemd cron crontab iptables selinux raspberry
arduino esp32 stm32 fpga usb bluetooth
""".split()
)
"""Names that are words, folded."""

CAPITALS: Final = frozenset(("REST",))
"""Technologies that are ordinary words unless they are written in capitals, in a request that is not."""

BRANDS: Final = frozenset(
    """
JavaScript TypeScript GitHub GitLab PostgreSQL MySQL MariaDB MongoDB DynamoDB CouchDB SQLite OpenAI ChatGPT PowerShell
WordPress YouTube LinkedIn PayPal DevOps GraphQL RabbitMQ ActiveMQ ClickHouse BigQuery CockroachDB InfluxDB FastAPI NumPy
SciPy PyTorch TensorFlow IntelliJ PyCharm VSCode CloudFront CloudFlare CircleCI ArgoCD OpenShift WebAssembly WebSocket
WebSockets WebRTC WebGL OpenGL NestJS NextJS NodeJS VueJS TypeORM LangChain LlamaIndex HuggingFace DuckDB OpenSearch
ElasticSearch NoSQL RxJS iPhone iPad iOS macOS eBay LaTeX BitBucket SendGrid PagerDuty DataDog NewRelic McDonald MacBook
GmbH JetBrains AppStore AirPods FreeBSD OpenBSD CentOS SELinux LaTex MacOS ReadMe ToDo OkK WhatsApp WiFi iCloud
iMessage eCommerce PhD TikTok AirBnB DropBox SoundCloud BitCoin SharePoint OneDrive PowerPoint SpaceX DeepSeek DeepMind LangGraph
OpenCV OpenAPI OpenSSL OpenSSH OpenVPN LibreOffice OpenOffice OpenStack OpenTelemetry GraphQL CloudWatch CloudFormation
ServiceNow SalesForce HubSpot MailChimp TypeDoc WebView WebStorm AppImage TestFlight NextAuth
""".split()
)
"""Names of products and companies that are spelled like names of code, as they are written."""
