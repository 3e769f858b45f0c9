SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

export PATH := $(shell .ci/setup path):$(PATH)

STEP := .ci/step
SETUP := .ci/setup
DIST := extension-shell/dist
PREFIX ?= $(or $(CARGO_HOME),$(HOME)/.cargo)

.PHONY: help run ready test everything parts quick glance flaky bench build install extension check clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build all, start the relay and a browser with the extension, control a tab
	@.ci/table "make run" $(MAKE) --no-print-directory ready
	@exec target/local/playwriter browser start

ready: extension
	@$(SETUP) rust
	@$(STEP) "building the relay" cargo build --quiet --profile local -p relay
	@$(SETUP) browser

test: ## Run every check and every test; with ONLY=word, the behaviours whose names contain it
ifdef ONLY
	@$(MAKE) --no-print-directory parts
	@.ci/tests only "$(ONLY)"
else
	@.ci/table "make test" $(MAKE) --no-print-directory everything
endif

everything: extension check parts
	@$(STEP) "wire tests in JavaScript" wasm-pack --log-level error test --node --mode no-install extension-wasm --test wire
	@rm -f target/tmp/versions.txt
	@$(STEP) "tests" .ci/tests all
	@echo "versions that were tried together:" && cat target/tmp/versions.txt

# What the end-to-end tests have on their stages.
parts: extension
	@$(SETUP) rust wasm-pack wasm-bindgen node-packages python-packages released browser screen network

quick: ## Check what changed in a minute or so: format, lints, unit tests and one drive through all parts
	@.ci/table "make quick" $(MAKE) --no-print-directory glance

glance: extension
	@$(SETUP) rust node-packages browser
	@$(STEP) "format" cargo fmt --check
	@$(STEP) "lints" cargo clippy --quiet --workspace --all-targets -- -D warnings
	@$(STEP) "unit tests" .ci/tests unit
	@$(STEP) "smoke test" .ci/tests only smoke::

N ?= 20
flaky: parts ## Run the behaviours whose names contain ONLY=word N=20 times, and say how often they passed
	@.ci/tests flaky $(N) "$(ONLY)"

bench: build ## Measure what the relay costs, against the browser without it and the original
	@$(SETUP) node-packages released browser
	@cargo bench --quiet -p end-to-end --bench speed --bench agents

build: extension ## Build the relay and the extension in release mode
	@$(SETUP) rust
	@$(STEP) "building the relay" cargo build --quiet --release -p relay

install: build ## Put playwriter where rustup puts programs, or into PREFIX/bin
	@mkdir -p "$(PREFIX)/bin" && install -m 755 target/release/playwriter "$(PREFIX)/bin/playwriter"
	@echo "$(PREFIX)/bin/playwriter"

check: extension ## Check format, lints, documentation, dependencies and what the wasm imports
	@$(SETUP) rust cargo-deny
	@$(STEP) "format" cargo fmt --check
	@$(STEP) "lints" cargo clippy --quiet --workspace --all-targets -- -D warnings
	@$(STEP) "lints of the relay without its features" cargo clippy --quiet -p relay --all-targets -- -D warnings
	@$(STEP) "lints for wasm32" cargo clippy --quiet -p extension-wasm -p extension-core -p shared-protocol --all-targets \
		--target wasm32-unknown-unknown -- -D warnings
	@RUSTDOCFLAGS="-D warnings" $(STEP) "documentation" cargo doc --quiet --workspace --no-deps
	@$(STEP) "dependencies" cargo deny --locked check licenses bans sources
	@$(STEP) "imports of the wasm" .ci/wasm-imports $(DIST)/pkg/extension_wasm_bg.wasm

extension: $(DIST)/manifest.json ## Build the extension into extension-shell/dist

SOURCES := Makefile .ci/setup Cargo.toml Cargo.lock rust-toolchain.toml tests/package-lock.json \
	$(shell find extension-wasm shared-protocol/src shared-protocol/Cargo.toml extension-shell -path $(DIST) -prune -o -type f -print)

# The manifest comes last: a folder that has one is whole.
$(DIST)/manifest.json: $(SOURCES)
	@$(SETUP) rust wasm-pack wasm-bindgen node-packages
	@rm -rf $(DIST)
	@$(STEP) "building the extension" wasm-pack --quiet --log-level error build extension-wasm --mode no-install \
		--target web --no-typescript --no-pack --profile wasm --out-dir ../$(DIST)/pkg
	@rm -f $(DIST)/pkg/.gitignore
	@mkdir -p $(DIST)/icons && cp extension-shell/icons/*.png $(DIST)/icons/
	@cp extension-shell/*.js extension-shell/*.html $(DIST)/
	@cp extension-shell/manifest.json $(DIST)/

clean: ## Remove everything that was built
	rm -rf target $(DIST) tests/node_modules tests/compatibility/released/node_modules
